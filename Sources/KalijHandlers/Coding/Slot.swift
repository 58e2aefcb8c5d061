/// The place for a value during encoding: containers may be filled after they were requested.
final class Slot {
    enum Item {
        case value(StoredValue)
        case slot(Slot)

        var finished: StoredValue {
            switch self {
            case .value(let value): value
            case .slot(let slot): slot.finished
            }
        }
    }

    private enum Content {
        case empty
        case single(StoredValue)
        case list([Item])
        case map([String: Item])
    }

    private var content = Content.empty

    func set(_ value: StoredValue) { content = .single(value) }

    func beginList() {
        if case .list = content { return }
        content = .list([])
    }

    func beginMap() {
        if case .map = content { return }
        content = .map([:])
    }

    func append(_ item: Item) {
        guard case .list(var items) = content else { return }
        content = .empty  // so that the array is changed in place
        items.append(item)
        content = .list(items)
    }

    func put(_ item: Item, as name: String) {
        guard case .map(var items) = content else { return }
        content = .empty  // so that the dictionary is changed in place
        items[name] = item
        content = .map(items)
    }

    var count: Int { if case .list(let items) = content { items.count } else { 0 } }

    /// The content. A value that encodes nothing is an empty map, like a type without properties.
    var finished: StoredValue {
        switch content {
        case .empty: .map([:])
        case .single(let value): value
        case .list(let items): .list(items.map(\.finished))
        case .map(let items): .map(items.mapValues(\.finished))
        }
    }
}

/// A name or a place in the path to a value.
struct PathKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
    init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
}
