/// Texts of a manual in the language of man pages, mdoc(7).
enum Roff {
    static func options(_ options: [CommandOption]) -> [String] {
        [".Bl -tag -width Ds"] + options.flatMap { [".It \(option($0))"] + lines($0.help) } + [".El"]
    }

    /// `--data DIR` as `Fl -data Ar DIR`.
    static func option(_ option: CommandOption) -> String {
        "Fl \(line(String(option.name.dropFirst())))" + (option.value.map { " Ar \(line($0))" } ?? "")
    }

    static func blocks(_ text: String) -> [String] {
        let text = HelpText(text)
        return zip(text.blocks, text.isApart).flatMap { block, isApart in
            let isParagraph = if case .paragraph = block { true } else { false }
            return (isApart && isParagraph ? [".Pp"] : []) + self.block(block)
        }
    }

    private static func block(_ block: HelpText.Block) -> [String] {
        switch block {
        case .paragraph(let text): lines(text)
        case .table(let rows):
            [".Bl -tag -width Ds"] + rows.flatMap { [".It \(line($0.head, isArgument: true))"] + lines($0.text) } + [
                ".El"
            ]
        case .literal(let lines): [".Bd -literal -offset indent"] + lines.map { line($0, isLiteral: true) } + [".Ed"]
        }
    }

    /// A text in lines: a sentence begins a line, and no line is longer than 80 bytes, as mdoc(7) wants.
    static func lines(_ text: String) -> [String] {
        var lines: [String] = []
        var isEnd = true
        for word in line(text).split(separator: " ") {
            if !isEnd, let last = lines.last, last.utf8.count + word.utf8.count < 80 {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append((word.first == "." ? "\\&" : "") + word)
            }
            isEnd = word.last.map { ".!?".contains($0) } ?? false
        }
        return lines
    }

    /// A line of text without meaning for roff. A phrase between backticks becomes bold. Arguments of a macro are
    /// protected one by one, because a macro's argument may be the name of a macro.
    static func line(_ text: String, isLiteral: Bool = false, isArgument: Bool = false) -> String {
        var line = ""
        var isBold = false
        for character in text {
            switch character {
            case "\\": line += "\\e"
            case "-": line += "\\-"
            case "'": line += "\\(aq"
            case "\"" where isArgument: line += "\\(dq"
            case "`" where isLiteral: line += "\\(ga"
            case "`":
                isBold.toggle()
                line += isBold ? "\\fB" : "\\fR"
            default: line.append(character)
            }
        }
        if isArgument { return line.split(separator: " ").map { "\\&\($0)" }.joined(separator: " ") }
        return line.first == "." ? "\\&" + line : line
    }
}
