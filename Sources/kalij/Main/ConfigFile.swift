import Glibc
import KalijText

/// The options of a configuration file: defaults for options that the command line omits.
///
/// A line is an option as on the command line, except that its value extends to the end of the line: `--data /srv/my kalij`.
/// Empty lines, and lines that begin with `#`, are ignored.
struct ConfigFile {
    fileprivate struct Line {
        let name: String
        let value: String?
        /// The file, and the number of the line.
        let place: String

        /// Whether the line sets `option`: an option of the same name may be a flag of another command.
        func sets(_ option: Arguments.Option) -> Bool {
            option.name == name && (option.value == nil) == (value == nil)
        }
    }

    private let lines: [Line]

    /// The maximum size of a configuration file in bytes.
    private static let maxFileSize = 1 << 20
    /// The options that are permitted in a file. The others are for a single call: from a file, `--remove` would delete an
    /// account without a prompt, each message with the same `--id` except the first would be lost, and `--password-file` would
    /// disclose the account's password to a room.
    static let habits: Set = [
        "--data", "--json", "--utc", "-v", "--account", "--limit", "--wait", "--within", "--budget", "--history-days",
        "--server", "--direct-tls", "--ca", "--nick", "--plain", "--queue-only", "--confirm",
    ]
    private static let opposites = [
        "--queue-only": ["--confirm", "--wait"], "--confirm": ["--queue-only"], "--wait": ["--queue-only"],
    ]

    /// Reads the defaults for a command line from the file that it specifies, or else from the user's file, if there is one.
    /// - Throws: `Failure` with the file, and the number of a bad line.
    init(for arguments: Arguments) throws {
        guard let path = try Self.path(arguments.value("--config")) else {
            self.init(lines: [])
            return
        }
        do {
            try self.init(try Files.contents(path, limit: Self.maxFileSize), of: path)
        } catch let failure as Failure { throw Failure(.badConfiguration, failure.message) }
    }

    /// - Throws: `Failure` with the number of a bad line.
    init(_ bytes: [UInt8], of path: String) throws {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(.badConfiguration, "\(path): not UTF-8")
        }
        let known = Help.sharedOptions + Kalij.commands.flatMap { $0.options }
        var lines: [Line] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let place = "\(path):\(index + 1)"
            do {
                guard let line = try Self.line(line, place) else { continue }
                try line.check(among: known)
                lines.append(line)
            } catch let failure as Failure { throw Failure(.badConfiguration, "\(place): \(failure.message)") }
        }
        self.lines = lines
    }

    private init(lines: [Line]) { self.lines = lines }

    /// The arguments, with the defaults for options of `command` that are not among them.
    func added(to arguments: Arguments, of command: any Command.Type) -> Arguments {
        let known = Help.sharedOptions + command.options
        var all = arguments
        for line in lines where known.contains(where: line.sets) {
            // The command line has precedence.
            let others = [line.name] + (Self.opposites[line.name] ?? [])
            if others.contains(where: arguments.isPresent) { continue }
            all.add(line.name, line.value, from: line.place)
        }
        return all
    }

    private static func path(_ given: String?) throws -> String? {
        if let given {
            guard !given.isEmpty else { throw Failure(.usage, "--config needs the name of a file") }
            return given
        }
        // An unreadable file is an error; a missing one is not.
        return UserSettings.folder.map { $0 + "/kalij/config" }.flatMap {
            access($0, F_OK) == 0 || ![ENOENT, ENOTDIR].contains(errno) ? $0 : nil
        }
    }

    private static func line(_ text: Substring, _ place: String) throws -> Line? {
        let text = text.trimmed
        guard let first = text.first, first != "#" else { return nil }
        guard !text.contains("\0") else { throw Failure(.badConfiguration, "the line holds the character U+0000") }
        guard first == "-" else { throw Failure(.badConfiguration, "not an option, such as --data DIR") }
        let end = text.firstIndex { $0.isWhitespace || $0 == "=" } ?? text.endIndex
        let name = String(text[..<end])
        guard end < text.endIndex else { return Line(name: name, value: nil, place: place) }
        var value = String(text[end...].dropFirst().trimmed)
        if let quote = value.first, "\"'".contains(quote) {
            throw Failure(.badConfiguration, "a value has no quotes: it goes on to the end of the line")
        }
        guard !value.contains(" --") else {
            throw Failure(.badConfiguration, "an option a line: a value goes on to the end of the line")
        }
        // No shell expands the value.
        if value.hasPrefix("~/"), let home = UserSettings.home { value = home + value.dropFirst() }
        return Line(name: name, value: value, place: place)
    }
}

extension ConfigFile.Line {
    /// - Throws: `Failure` unless a command has this option.
    fileprivate func check(among options: [Arguments.Option]) throws {
        guard !options.contains(where: sets) else {
            guard ConfigFile.habits.contains(name) else {
                throw Failure(.badConfiguration, "\(name) is for the command line only")
            }
            return
        }
        guard options.contains(where: { $0.name == name }) else {
            throw Failure(.badConfiguration, "unknown option \(name)")
        }
        throw Failure(.badConfiguration, value == nil ? "\(name) needs a value" : "\(name) takes no value")
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var rest = self
        while rest.first?.isWhitespace ?? false { rest.removeFirst() }
        while rest.last?.isWhitespace ?? false { rest.removeLast() }
        return rest
    }
}
