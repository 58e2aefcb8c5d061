/// The words of actions on conversations.
extension Words {
    public static var pin: String { tr("Pin") }
    public static var unpin: String { tr("Unpin") }
    public static var hide: String { tr("Hide until the next message") }
    public static func hiddenNow(_ name: String) -> String { tr("{name} is hidden", ["name": name]) }
    public static var unhide: String { tr("Show in the list") }
    public static func mute(hours: Int) -> String {
        tr("Mute for {n} hour", "Mute for {n} hours", hours)
    }
    public static var muteAlways: String { tr("Mute") }
    public static func notifications(_ state: String) -> String { tr("Notifications: {state}", ["state": state]) }
    static func mutedUntil(_ time: String) -> String { tr("Muted until {time}", ["time": time]) }
    static var isMuted: String { tr("Muted") }
    static var notMuted: String { tr("No longer muted") }
    static var mentionsOnlyState: String { tr("Mentions only") }
    public static var unmute: String { tr("Unmute") }
    public static var mentionsOnly: String { tr("Notify of mentions only") }
    public static var notifyAlways: String { tr("Notify of all messages") }
}
