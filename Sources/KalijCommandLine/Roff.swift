/// Formats the texts of a manual in mdoc(7), the language of man pages.
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

    /// Splits a text into lines: each sentence starts a line, and no line exceeds 80 bytes, as mdoc(7) recommends.
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

    /// Escapes a line of text for roff. A phrase between backticks becomes bold. Arguments of a macro are protected one by one,
    /// because an argument may be the name of a macro.
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
