/// Lines of limited width.
enum Columns {
    /// The widest line of help.
    static let width = 100

    /// Wraps the words of a text into lines. The first line begins with `head`, the others with `indent` spaces. A phrase between
    /// backticks is not broken.
    static func lines(_ text: String, head: String = "", indent: Int = 0) -> [String] {
        var lines: [String] = []
        var line = head
        var isEmpty = true
        for word in words(text) {
            if !isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = String(repeating: " ", count: indent)
                isEmpty = true
            }
            line += isEmpty ? word : " " + word
            isEmpty = false
        }
        return lines + [line]
    }

    /// A table with its heads in one column. A head that is too long has its own line.
    static func table(_ rows: [(head: String, text: String)]) -> [String] {
        let longest = 28
        let column = 4 + (rows.map(\.head.count).filter { $0 <= longest }.max() ?? 0)
        return rows.flatMap { row -> [String] in
            let head = "  " + row.head
            guard head.count + 2 <= column else {
                return [head] + lines(row.text, head: String(repeating: " ", count: column), indent: column)
            }
            return lines(row.text, head: padded(head, column), indent: column)
        }
    }

    static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func words(_ text: String) -> [String] {
        var words: [String] = []
        var isQuoted = false
        for word in text.split(separator: " ") {
            if isQuoted, let last = words.popLast(), last.count < width / 2 {
                words.append("\(last) \(word)")
            } else {
                words.append(String(word))
            }
            if word.count(where: { $0 == "`" }) % 2 == 1 { isQuoted.toggle() }
        }
        return words
    }
}
