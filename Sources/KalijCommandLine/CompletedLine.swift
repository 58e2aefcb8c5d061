/// The possible completions of the last word of a line.
public enum CompletedLine: Equatable, Sendable {
    /// A word and its meaning; the meaning is empty if the word is self-explanatory.
    public struct Candidate: Equatable, Sendable {
        public let word: String
        public let meaning: String
    }

    case words([Candidate])
    case files
    case directories

    /// The lines for the scripts of `Completion`: each candidate and its meaning, separated by a tab, or a request to complete a
    /// file or directory name.
    public var lines: [String] {
        switch self {
        case .words(let candidates): candidates.map { "\($0.word)\t\($0.meaning)" }
        case .files: [":files"]
        case .directories: [":directories"]
        }
    }
}

extension Manual {
    /// Completes the last of the words after the program's name, which may be empty.
    /// - Parameter known: returns the program's values for a placeholder in the help, such as `JID`, or for an option, such as
    ///   `--account`.
    public func completed(_ line: [String], known: (String) -> [String] = { _ in [] }) -> CompletedLine {
        var words: [String] = []
        var entry: Entry?
        var mayBeOption = true
        var rest = line.dropLast()[...]
        let current = line.last ?? ""
        while let word = rest.popFirst() {
            guard mayBeOption, word.hasPrefix("-"), word != "-" else {
                if entry == nil, let named = self.entry(word) { entry = named } else { words.append(word) }
                continue
            }
            if word == "--" { mayBeOption = false }
            guard let option = option(word, of: entry), let value = option.value else { continue }
            guard rest.popFirst() == nil else { continue }
            let names = known(option.name)
            return names.isEmpty
                ? Self.completed(value, current) : .words(Self.fitting(current, names.map { ($0, "") }))
        }
        if mayBeOption, current.hasPrefix("-") { return completed(option: current, of: entry) }
        guard let entry else {
            return words.isEmpty ? .words(Self.fitting(current, entries.map { ($0.name, $0.summary) })) : .words([])
        }
        return completed(entry, words, current, known)
    }

    private func option(_ name: String, of entry: Entry?) -> CommandOption? {
        ((entry?.options ?? []) + options).first { $0.name == name }
    }

    private func completed(option current: String, of entry: Entry?) -> CompletedLine {
        if let sign = current.firstIndex(of: "=") {
            guard let value = option(String(current[..<sign]), of: entry)?.value else { return .words([]) }
            return Self.completed(value, current, prefix: String(current[...sign]))
        }
        return .words(Self.fitting(current, ((entry?.options ?? []) + options).map { ($0.name, $0.help) }))
    }

    private func completed(
        _ entry: Entry, _ words: [String], _ current: String, _ known: (String) -> [String]
    ) -> CompletedLine {
        let next = Usage(entry.usage).next(after: words)
        if next.contains("COMMAND") { return .words(Self.fitting(current, entries.map { ($0.name, $0.summary) })) }
        let meanings = HelpText(entry.details).blocks.flatMap { block -> [HelpText.Row] in
            if case .table(let rows) = block { rows } else { [] }
        }
        let choices = next.filter(Usage.isWritten).flatMap(Self.choices)
        if choices.isEmpty, let name = next.first(where: Self.isPath) { return Self.completed(name, current) }
        let names = next.filter { !Usage.isWritten($0) }.flatMap { known(String($0.prefix { $0 != "." })) }
        return .words(
            Self.fitting(
                current,
                choices.map { choice in
                    let head = choice.prefix { $0 != "=" }
                    return (choice, meanings.first { $0.head.split(separator: " ").first == head }?.text ?? "")
                } + names.map { ($0, "") }))
    }

    /// Completes the value of an option with the given placeholder in the help.
    private static func completed(_ value: String, _ current: String, prefix: String = "") -> CompletedLine {
        if value == "DIR" { return .directories }
        if isPath(value) { return .files }
        guard Usage.isWritten(value) else { return .words([]) }
        return .words(fitting(current, choices(value).map { (prefix + $0, "") }))
    }

    private static func isPath(_ name: String) -> Bool { ["FILE", "F", "PATH", "CONFIG", "SOCKET"].contains(name) }

    /// `notify=all|none|TIME` as `notify=all` and `notify=none`.
    private static func choices(_ word: String) -> [String] {
        let parts = word.split(separator: "=", maxSplits: 1)
        guard let values = parts.last else { return [] }
        let prefix = parts.count == 2 ? "\(parts[0])=" : ""
        return values.split(separator: "|").map(String.init).filter(Usage.isWritten).map { prefix + $0 }
    }

    private static func fitting(_ current: String, _ all: [(String, String)]) -> [CompletedLine.Candidate] {
        var seen: Set<String> = []
        return all.filter { $0.0.hasPrefix(current) && seen.insert($0.0).inserted }
            .map { CompletedLine.Candidate(word: $0.0, meaning: $0.1) }
    }
}
