import KalijText

/// The user's settings (XDG Base Directory Specification).
enum UserSettings {
    /// The folder of all programs' settings; nil without a home directory.
    static var folder: String? {
        EnvironmentVariable.value("XDG_CONFIG_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
            ?? home.map { $0 + "/.config" }
    }

    /// Nil if the environment has none.
    static var home: String? { EnvironmentVariable.value("HOME").flatMap { $0.isEmpty ? nil : $0 } }
}
