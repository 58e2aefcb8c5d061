import KalijXML

/// An archive (XEP-0313) of one account.
struct Archive {
    /// All that ever were in it, in its order.
    private(set) var messages: [ArchivedMessage] = []
    /// How many of the first ones it has forgotten.
    private var forgotten = 0

    /// - Parameter places: how many places before the end it goes.
    mutating func add(_ message: ArchivedMessage, places: Int = 0, now: Int64) {
        let index = max(0, messages.count - places)
        messages.insert(message, at: index)
        if index < claimed { late.insert(message.number) }
        // ejabberd 23.01 was seen to write a message behind 91 later ones: nobody can read on from much further back each time.
        guard messages.count > Self.latest else { return }
        let shown = messages.count - Self.latest - 1
        messages[shown].visible = min(messages[shown].visible, now)
    }

    private static let latest = 120

    /// How many of the first ones the client says it has, by asking for what is behind them.
    private var claimed = 0

    mutating func claim(_ after: String?) {
        guard let index = messages.lastIndex(where: { $0.id == after }) else { return }
        claimed = max(claimed, index + 1)
        // The client asks for what is behind these messages, and no page has shown them: they were written late.
        for message in messages[...index] where !shown.contains(message.number) { late.insert(message.number) }
    }

    /// What pages have shown.
    private var shown: Set<Int> = []

    mutating func show(_ page: Page) { shown.formUnion(page.messages.lazy.map(\.number)) }

    private var late: Set<Int> = []

    /// Messages before the first one that was ever shown, and written only after that: the client takes them for older history,
    /// says that there is such, and fetches it if it is asked to.
    private(set) var older: Set<Int> = []
    private var isBegun = false

    mutating func begin(at number: Int, now: Int64) {
        guard !isBegun, let index = messages.firstIndex(where: { $0.number == number }) else { return }
        isBegun = true
        for message in messages[..<index] where message.visible > now { older.insert(message.number) }
    }

    /// Forgets so many percent of its messages, the oldest first, of those that the client says it has.
    /// - Parameter known: messages that the client has acknowledged: it has them too, though it does not know their places.
    /// - Returns: how many it has forgotten now.
    mutating func expire(percent: Int, known: Set<Int>) -> Int {
        let before = forgotten
        let limit = messages.count * percent / 100
        while forgotten < limit {
            let number = messages[forgotten].number
            // What is asked behind was shown, unless it was written late.
            if forgotten >= claimed || late.contains(number) {
                guard known.contains(number) else { break }
                unplaced.insert(number)
            }
            forgotten += 1
        }
        return forgotten - before
    }

    /// Forgets everything, read or not: its owner has it emptied, or all of it was too old.
    /// - Parameter known: messages that the client has acknowledged.
    /// - Returns: how many it has forgotten now.
    mutating func purge(known: Set<Int>) -> Int {
        let before = forgotten
        for (index, message) in messages.enumerated().dropFirst(forgotten) {
            unplaced.insert(message.number)
            if (index >= claimed || late.contains(message.number)) && !known.contains(message.number) {
                gone.insert(message.number)
            }
        }
        forgotten = messages.count
        return forgotten - before
    }

    /// Messages that it has forgotten and the client perhaps never had.
    private(set) var gone: Set<Int> = []

    /// Messages whose place it has forgotten before the client could ask for it.
    private(set) var unplaced: Set<Int> = []

    struct Page {
        let messages: [ArchivedMessage]
        let isComplete: Bool
    }

    struct Query {
        let queryID: String?
        let max: Int
        let after: String?
        let before: String?
        let start: Int64?
        let end: Int64?
        let with: String?
    }

    /// What a query asks for; nil if it refers to a message that there is not.
    func page(_ query: Query, now: Int64) -> Page? {
        var found = messages.dropFirst(forgotten).filter { message in
            message.isKept && message.visible <= now && message.at >= query.start ?? .min
                && message.at <= query.end ?? .max
                && query.with.map { message.from.hasPrefix($0) || message.to.hasPrefix($0) } ?? true
        }
        if let after = query.after {
            // Of twins the last one: the servers go by the id alone, and page over the other.
            guard let index = found.lastIndex(where: { $0.id == after }) else { return nil }
            found.removeFirst(index + 1)
        }
        guard let before = query.before else {
            return Page(messages: Array(found.prefix(query.max)), isComplete: found.count <= query.max)
        }
        if !before.isEmpty {
            guard let index = found.firstIndex(where: { $0.id == before }) else { return nil }
            found.removeLast(found.count - index)
        }
        return Page(messages: Array(found.suffix(query.max)), isComplete: found.count <= query.max)
    }
}

extension Archive.Query {
    /// Reads a `<query xmlns='urn:xmpp:mam:2'/>`.
    init(_ query: Element) {
        let set = query.child("set", "http://jabber.org/protocol/rsm")
        let fields = query.child("x", "jabber:x:data")?.children ?? []
        func field(_ name: String) -> String? {
            fields.first { $0.name == "field" && $0["var"] == name }?.children.first { $0.name == "value" }?.text
        }
        func child(_ name: String) -> String? { set?.child(name, "http://jabber.org/protocol/rsm")?.text }
        func time(_ name: String) -> Int64? {
            guard let text = field(name) else { return nil }
            return Stamp.milliseconds(text)
        }
        self.init(
            queryID: query["queryid"], max: Swift.min(100, child("max").flatMap { Int($0) } ?? 50),
            after: child("after"), before: child("before"), start: time("start"), end: time("end"), with: field("with"))
    }
}
