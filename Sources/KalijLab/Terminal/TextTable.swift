/// Columns of text: the first to the left, the others to the right.
struct TextTable {
    private var rows: [[String]] = []

    /// Adds a row.
    mutating func add(_ cells: String...) {
        rows.append(cells)
    }

    /// The lines, each column as wide as its widest cell.
    func lines() -> [String] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            let cells = row.enumerated().map { index, cell in
                let padding = String(repeating: " ", count: widths[index] - cell.count)
                return index == 0 ? cell + padding : padding + cell
            }
            return "  " + cells.joined(separator: "   ")
        }
    }
}
