/// A replaced part of a list: `removed` rows are removed, and `inserted` rows inserted in their place.
public struct ListChange: Equatable, Sendable {
    public let at: Int
    public let removed: Int
    public let inserted: Int

    /// The smallest changes that transform `old` into `new`, from the end to the start: each leaves the positions before it in
    /// `old` valid. A moved row is one removal and one insertion.
    public static func between<Row: Equatable>(_ old: [Row], and new: [Row]) -> [ListChange] {
        var (start, oldEnd, newEnd) = (0, old.count, new.count)
        while start < min(oldEnd, newEnd), old[start] == new[start] { start += 1 }
        while oldEnd > start, newEnd > start, old[oldEnd - 1] == new[newEnd - 1] {
            (oldEnd, newEnd) = (oldEnd - 1, newEnd - 1)
        }
        guard oldEnd > start || newEnd > start else { return [] }
        let whole = ListChange(at: start, removed: oldEnd - start, inserted: newEnd - start)
        guard whole.removed > 0, whole.inserted > 0, whole.removed + whole.inserted <= mostCompared * 2 else {
            return whole.removed + whole.inserted > mostCompared * 2 && whole.removed > 0 && whole.inserted > 0
                ? moved(old, new, whole) ?? [whole] : [whole]
        }
        return scripts(Array(old[start..<oldEnd]), Array(new[start..<newEnd]), from: start)
    }

    /// The limit for comparing row by row. The content of a conversation is always compared: messages, and as many lines between
    /// them. A list whose rows are all replaced loses its scroll position.
    private static let mostCompared = 2 * Window.most + 50

    /// A single row that has moved to the front of a long part.
    private static func moved<Row: Equatable>(_ old: [Row], _ new: [Row], _ whole: ListChange) -> [ListChange]? {
        let (start, oldEnd, newEnd) = (whole.at, whole.at + whole.removed, whole.at + whole.inserted)
        guard whole.removed == whole.inserted, Array(old[start..<(oldEnd - 1)]) == Array(new[(start + 1)..<newEnd])
        else {
            return nil
        }
        return [ListChange(at: oldEnd - 1, removed: 1, inserted: 0), ListChange(at: start, removed: 0, inserted: 1)]
    }

    private static func scripts<Row: Equatable>(_ old: [Row], _ new: [Row], from start: Int) -> [ListChange] {
        var removed: Set<Int> = []
        var inserted: Set<Int> = []
        for change in new.difference(from: old) {
            switch change {
            case .remove(let place, _, _): removed.insert(place)
            case .insert(let place, _, _): inserted.insert(place)
            }
        }
        var changes: [ListChange] = []
        var (o, n) = (0, 0)
        while o < old.count || n < new.count {
            if removed.contains(o) || inserted.contains(n) {
                let (firstOld, firstNew) = (o, n)
                while removed.contains(o) { o += 1 }
                while inserted.contains(n) { n += 1 }
                changes.append(ListChange(at: start + firstOld, removed: o - firstOld, inserted: n - firstNew))
            } else {
                (o, n) = (o + 1, n + 1)
            }
        }
        return changes.reversed()
    }
}
