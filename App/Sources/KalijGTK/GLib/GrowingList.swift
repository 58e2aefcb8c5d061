import CAdwaita

/// Gives a list its rows a few at a time: GTK makes the widgets of the first 200 rows of a list at once, which takes a quarter of a second.
final class GrowingList<Row: RowView> {
    private let list: ListView<Row>
    private var wanted: [Row.Value] = []
    private var isGrowing = false

    init(_ list: ListView<Row>) { self.list = list }

    /// The rows that fill a window, those that follow in each frame, and those beyond which GTK makes no widgets.
    private static var first: Int { 24 }
    private static var more: Int { 12 }
    private static var most: Int { 240 }

    /// - Parameter isOther: whether the rows replace those of another list, whose widgets are not compared.
    func show(_ rows: [Row.Value], isOther: Bool = false) {
        if isOther { list.show([]) }
        wanted = rows
        let count = list.rows.count
        list.show(count >= Self.most ? rows : Array(rows.prefix(max(Self.first, count))))
        grow()
    }

    private func grow() {
        guard !isGrowing, list.rows.count < wanted.count else { return }
        isGrowing = true
        everyFrame(of: list.view) { [weak self] in
            guard let self else { return false }
            let count = list.rows.count + Self.more
            list.show(count >= Self.most ? wanted : Array(wanted.prefix(count)))
            isGrowing = list.rows.count < wanted.count
            return isGrowing
        }
    }
}
