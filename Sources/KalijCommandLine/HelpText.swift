/// A text of a manual, parsed from the format in the sources.
///
/// - Lines at the margin are paragraphs, separated by empty lines.
/// - Lines with two spaces before a head, two or more spaces, and a text are rows of a table. Lines indented further continue the
///   text; a head may be alone on its line.
/// - Other indented lines are literal.
struct HelpText {
    struct Row: Equatable {
        let head: String
        var text: String
    }

    enum Block: Equatable {
        case paragraph(String)
        case table([Row])
        case literal([String])
    }

    let blocks: [Block]
    /// For each block, whether an empty line precedes it.
    let isApart: [Bool]

    init(_ text: String) {
        var blocks: [Block] = []
        var isApart: [Bool] = []
        var run: [Substring] = []
        var apart = false
        func end() {
            guard let first = run.first else { return }
            blocks.append(first.first == " " ? Self.indented(run) : .paragraph(run.joined(separator: " ")))
            isApart.append(apart)
            run = []
            apart = false
        }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.isEmpty {
                end()
                apart = !blocks.isEmpty
                continue
            }
            if let last = run.last, (last.first == " ") != (line.first == " ") { end() }
            run.append(line)
        }
        end()
        self.blocks = blocks
        self.isApart = isApart
    }

    private static func indented(_ lines: [Substring]) -> Block {
        table(lines).map { .table($0) } ?? .literal(lines.map { String($0.dropFirst(2)) })
    }

    /// The rows of a table; nil if a line does not belong to a table.
    private static func table(_ lines: [Substring]) -> [Row]? {
        guard let column = lines.lazy.compactMap({ row($0)?.column }).first else { return nil }
        var rows: [Row] = []
        for line in lines {
            let margin = line.prefix { $0 == " " }.count
            if margin == 2 {
                let parts = row(line)
                guard (parts?.column ?? column) == column else { return nil }
                guard parts?.row.text.contains("  ") != true else { return nil }
                rows.append(parts?.row ?? Row(head: String(line.dropFirst(2)), text: ""))
            } else {
                guard margin == column, !rows.isEmpty else { return nil }
                let text = line.dropFirst(margin)
                rows[rows.count - 1].text += rows[rows.count - 1].text.isEmpty ? text : " " + text
            }
        }
        return rows.contains { $0.text.isEmpty } ? nil : rows
    }

    /// A line with a head and a text, and the column of the text.
    private static func row(_ line: Substring) -> (row: Row, column: Int)? {
        let body = line.dropFirst(2)
        guard body.first != " ", let gap = body.firstRange(of: "  ") else { return nil }
        let text = body[gap.lowerBound...].drop { $0 == " " }
        return (
            Row(head: String(body[..<gap.lowerBound]), text: String(text)),
            line.distance(from: line.startIndex, to: text.startIndex)
        )
    }
}

extension Substring {
    /// The range of the first occurrence of `part`.
    fileprivate func firstRange(of part: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(part) { return start..<index(start, offsetBy: part.count) }
            start = index(after: start)
        }
        return nil
    }
}
