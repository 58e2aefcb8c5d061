import Glibc
import KalijText

/// A program of the system that the laboratory needs, with its Debian package.
public struct Tool: Sendable {
    /// The file name looked for in `PATH` and the system's folders, or an absolute path.
    public let name: String
    /// The Debian 12 package to install if the program is missing.
    public let package: String

    /// A program and its package.
    public init(name: String, package: String) {
        self.name = name
        self.package = package
    }

    static let prosody = Tool(name: "prosody", package: "prosody")
    static let prosodyctl = Tool(name: "prosodyctl", package: "prosody")
    static let erl = Tool(name: "erl", package: "erlang-base (a dependency of ejabberd)")
    static let openssl = Tool(name: "openssl", package: "openssl")
    static let sqlite = Tool(name: "sqlite3", package: "sqlite3")
    /// Debian's own interpreter: the one that finds Debian's slixmpp.
    static let python = Tool(name: "/usr/bin/python3", package: "python3")
    static let env = Tool(name: "/usr/bin/env", package: "coreutils")
    static let shell = Tool(name: "/bin/sh", package: "dash")

    /// The absolute path of the executable.
    /// - Throws: ``LaboratoryError`` with the name of the Debian package if the program is missing.
    public func path() throws -> String {
        let candidates: [String]
        if name.hasPrefix("/") {
            candidates = [name]
        } else {
            let search = EnvironmentVariable.value("PATH") ?? ""
            let folders = search.split(separator: ":").map(String.init) + ["/usr/bin", "/usr/sbin", "/bin", "/sbin"]
            candidates = folders.map { "\($0)/\(name)" }
        }
        for candidate in candidates where access(candidate, X_OK) == 0 { return candidate }
        throw LaboratoryError(
            "\(name) is not installed; Debian's package is \(package). Scripts/install-packages installs everything.")
    }
}
