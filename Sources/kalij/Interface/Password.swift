import Glibc
import KalijAddress
import KalijText

/// Reads a password: from a file, the environment or the terminal; never from an argument, which is visible to other users.
enum Password {
    /// - Parameter isNew: whether the terminal prompts twice, to detect a mistyped new password.
    static func read(file: String?, for jid: JID, isNew: Bool = false) throws -> String {
        let password: String
        if let file {
            password = firstLine(try Files.contents(file, limit: 65_536))
        } else if let given = EnvironmentVariable.value("KALIJ_PASSWORD") {
            password = given
        } else {
            password = try prompt("\(isNew ? "New password" : "Password") of \(jid.bare): ")
            if isNew, try prompt("The same again: ") != password {
                throw Failure(.badInput, "the passwords are different")
            }
        }
        guard !password.isEmpty else { throw Failure(.badInput, "the password is empty") }
        return password
    }

    /// The first line of `file`, or of standard input for "-".
    static func firstLine(of file: String) throws -> String {
        firstLine(try Files.contents(file, limit: 65_536))
    }

    private static func firstLine(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
    }

    private static func prompt(_ text: PrintedText) throws -> String {
        guard isatty(STDIN_FILENO) == 1 else {
            throw Failure(.usage, "no password: give it in KALIJ_PASSWORD or with --password-file")
        }
        guard let line = try PasswordPrompt.readLine(text) else { throw Failure(.badInput, "no password was given") }
        return String(decoding: line, as: UTF8.self)
    }
}
