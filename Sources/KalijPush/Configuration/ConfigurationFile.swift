/// The file of the configuration, with the settings that are read only at the start.
struct ConfigurationFile {
    let path: String
    private let http: HTTPSettings?
    private let state: StateSettings
    private let stanzaBytes: Int

    /// - Parameter settings: those of the start.
    init(path: String, settings: Settings) {
        self.path = path
        http = settings.http
        state = settings.state
        stanzaBytes = settings.limits.stanzaBytes
    }

    /// Notes for the operator on reloaded settings: warnings, and changes without effect.
    func notes(on new: Settings) -> [String] {
        let changes = [
            ("http", new.http != http), ("state", new.state != state),
            ("limits.stanzaBytes", new.limits.stanzaBytes != stanzaBytes),
        ]
        return new.warnings(path)
            + changes.compactMap { key, isChanged in
                isChanged ? "\(key): the change takes effect at the next start" : nil
            }
    }
}
