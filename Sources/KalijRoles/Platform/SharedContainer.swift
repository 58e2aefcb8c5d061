#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Where the processes of an application find what they share: all have to come to the same answer.
///
/// On Linux that is the user's directory for data (``UserData``); on Apple's systems the container of the app group that the
/// application and its extensions belong to (`containerURL(forSecurityApplicationGroupIdentifier:)`).
public protocol SharedContainer: Sendable {
    /// The directory, which need not exist; nil if there is no place for it.
    var path: String? { get }
}

/// Linux's: `$XDG_DATA_HOME/NAME`, or `~/.local/share/NAME` (XDG Base Directory Specification).
public struct UserData: SharedContainer {
    /// The application's directory there.
    public let name: String

    /// The directory of the application `name`.
    public init(_ name: String) { self.name = name }

    public var path: String? {
        if let base = Self.environment("XDG_DATA_HOME"), base.hasPrefix("/") { return base + "/" + name }
        guard let home = Self.environment("HOME"), !home.isEmpty else { return nil }
        return home + "/.local/share/" + name
    }

    private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
