import Glibc

/// The files by which the session bus starts the connector for a call, and the session for each login.
public struct ConnectorService: Sendable {
    /// The reason why the files cannot be written.
    public struct Problem: Error, Sendable, CustomStringConvertible {
        public let description: String
    }

    /// The connector's name on the bus.
    public let name: String
    private let command: [String]
    private let services: String
    private let logins: String

    /// - Parameters:
    ///   - name: the connector's name on the bus.
    ///   - command: the program with its arguments.
    ///   - services: the user's folder of D-Bus service files.
    ///   - logins: the user's folder of programs that start at a login.
    public init(name: String, command: [String], services: String, logins: String) {
        (self.name, self.command, self.services, self.logins) = (name, command, services, logins)
    }

    /// A name for the connector of a directory that is not the usual one.
    public static func name(_ usual: String, of directory: String) -> String {
        // FNV-1a
        let hash = directory.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return "\(usual).d\(String(hash, radix: 16))"
    }

    /// The service file for the session bus.
    public var path: String { "\(services)/\(name).service" }
    private var loginPath: String { "\(logins)/\(name).desktop" }

    /// Writes the files. At each login the connector requests its endpoints again, in case one was missed.
    /// - Throws: ``Problem``
    public func install() throws(Problem) {
        let line = try words()
        try Self.write("[D-BUS Service]\nName=\(name)\nExec=\(line)\n", to: path)
        try Self.write(
            "[Desktop Entry]\nType=Application\nName=Kalij push\nNoDisplay=true\nExec=\(line)\n", to: loginPath)
    }

    /// Removes the files.
    public func remove() { for file in [path, loginPath] { unlink(file) } }

    /// The command for both kinds of files, which agree on quotes but not on what is escaped within.
    private func words() throws(Problem) -> String {
        let isEscaped = { (byte: UInt8) in byte < 32 || "\"\\`$%".utf8.contains(byte) }
        for word in command where word.utf8.contains(where: isEscaped) {
            throw Problem(description: "\(word): a path for D-Bus has none of \" \\ ` $ %")
        }
        return command.map { "\"\($0)\"" }.joined(separator: " ")
    }

    private static func write(_ text: String, to path: String) throws(Problem) {
        for end in path.indices.dropFirst() where path[end] == "/" { mkdir(String(path[..<end]), 0o700) }
        do throws(RegistrationFile.Problem) {
            try WholeFile.replace(path, with: Array(text.utf8), mode: 0o644)
        } catch { throw Problem(description: error.description) }
    }
}
