import KalijText

/// The place of the files shared by an application's processes: all processes have to get the same answer.
///
/// On Linux the user's directory for data (``UserData``); on Apple's systems the container of the app group of the
/// application and its extensions (`containerURL(forSecurityApplicationGroupIdentifier:)`).
public protocol SharedContainer: Sendable {
    /// The directory, which need not exist; nil if the system has no place.
    var path: String? { get }
}

/// Linux's: `$XDG_DATA_HOME/NAME`, or `~/.local/share/NAME` (XDG Base Directory Specification).
public struct UserData: SharedContainer {
    /// The application's directory there.
    public let name: String

    /// The directory of the application `name`.
    public init(_ name: String) { self.name = name }

    public var path: String? {
        if let base = EnvironmentVariable.value("XDG_DATA_HOME"), base.hasPrefix("/") { return base + "/" + name }
        guard let home = EnvironmentVariable.value("HOME"), !home.isEmpty else { return nil }
        return home + "/.local/share/" + name
    }
}
