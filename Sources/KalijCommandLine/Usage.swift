/// The forms of a command, read from the usage in its help: `[list | join ROOM] [--account JID]` has the forms `list` and
/// `join ROOM`.
struct Usage {
    /// The words of each form, without options. Words in capitals are placeholders for the user's input.
    private(set) var forms: [[String]] = []
    /// Words that may appear anywhere, such as `receipts=on|off`.
    private(set) var settings: [String] = []

    private indirect enum Part {
        case word(String)
        case group([[Part]])
    }

    init(_ text: String) {
        var rest = text[...]
        forms = Self.read(&rest).flatMap(Self.words)
        settings = Set(forms.joined().filter(Self.isSetting)).sorted()
        forms = forms.map { $0.filter { !Self.isSetting($0) } }
    }

    /// Whether the word is entered literally.
    static func isWritten(_ word: String) -> Bool { word.first?.isLowercase == true }
    private static func isSetting(_ word: String) -> Bool { isWritten(word) && word.contains("=") }

    /// Parses alternatives up to the end of their brackets.
    private static func read(_ rest: inout Substring) -> [[Part]] {
        var alternatives: [[Part]] = [[]]
        func add(_ part: Part) { alternatives[alternatives.count - 1].append(part) }
        while let character = rest.first {
            switch character {
            case "]":
                rest.removeFirst()
                return alternatives
            case "[":
                rest.removeFirst()
                add(.group(read(&rest)))
            case " ": rest.removeFirst()
            default:
                let word = rest.prefix { $0 != " " && $0 != "[" && $0 != "]" }
                rest.removeFirst(word.count)
                if word == "|" { alternatives.append([]) } else { add(.word(String(word))) }
            }
        }
        return alternatives
    }

    /// The forms of an alternative. An option ends the words of its brackets.
    private static func words(_ parts: [Part]) -> [[String]] {
        var forms: [[String]] = [[]]
        for part in parts {
            switch part {
            case .word(let word) where word.hasPrefix("-") && word != "-": return forms
            case .word(let word): forms = forms.map { $0 + [word] }
            case .group(let alternatives):
                let inner = alternatives.flatMap(words)
                forms = forms.flatMap { form in inner.map { form + $0 } }
            }
        }
        return forms
    }

    /// The words of the usage that may follow the given words.
    func next(after words: [String]) -> [String] {
        forms.flatMap { form -> [String] in
            for (index, word) in form.enumerated() {
                // After a repeatable word, all following words of the form are possible.
                if word.hasSuffix("...") { return Array(form[index...]) }
                if index == words.count { return [word] }
                if Self.isWritten(word), !word.split(separator: "|").contains(Substring(words[index])) { return [] }
            }
            return []
        } + settings
    }
}
