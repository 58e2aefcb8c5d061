/// What the user has chosen in the settings of an account, as long as it is not stored: settings that are read meanwhile do not take it back.
public struct SettingChoices: Sendable, Equatable {
    private var switches: [SettingSwitch: Bool] = [:]
    private var level: NotifyLevel?

    public init() {}

    public mutating func choose(_ setting: SettingSwitch, _ isOn: Bool) { switches[setting] = isOn }

    public mutating func choose(_ level: NotifyLevel) { self.level = level }

    /// The settings to display when `stored` was read. A choice that is stored is forgotten.
    public mutating func shown(_ stored: AccountSettings) -> AccountSettings {
        var shown = stored
        switches = switches.filter { stored.on.contains($0.key) != $0.value }
        for (setting, isOn) in switches {
            if isOn { shown.on.insert(setting) } else { shown.on.remove(setting) }
        }
        if level == stored.notify { level = nil }
        shown.notify = level ?? stored.notify
        return shown
    }
}
