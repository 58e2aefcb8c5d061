import KalijXML

/// An archive (XEP-0313) of one account.
struct Archive {
    /// All messages ever archived, in the archive's order.
    private(set) var messages: [ArchivedMessage] = []
    /// Messages from before the first login, oldest first, which precede all others in pages. No judge expects them to be stored: the
    /// client fetches them only if the user requests older history.
    private(set) var history: [ArchivedMessage] = []
    /// How many messages the archive has forgotten, from the first on.
    private var forgotten = 0

    /// - Parameter places: how many places before the end the message goes.
    mutating func add(_ message: ArchivedMessage, places: Int = 0, now: Int64) {
        let index = max(0, messages.count - places)
        messages.insert(message, at: index)
        if index < claimed { late.insert(message.number) }
        // ejabberd 23.01 was seen to put a message 91 places before the end. No client can begin each reading
        // much further back.
        guard messages.count > Self.latest else { return }
        let shown = messages.count - Self.latest - 1
        messages[shown].visible = min(messages[shown].visible, now)
    }

    mutating func addHistory(_ message: ArchivedMessage) { history.append(message) }

    private static let latest = 120

    /// How many messages, from the first on, the client has by its own account: by asking for later messages.
    private var claimed = 0

    mutating func claim(_ after: String?) {
        guard let index = messages.lastIndex(where: { $0.id == after }) else { return }
        claimed = max(claimed, index + 1)
        // If the client asks for later messages and no page has shown an earlier message, the earlier message was written late.
        for message in messages[...index] where !shown.contains(message.number) { late.insert(message.number) }
    }

    /// The messages shown by pages.
    private var shown: Set<Int> = []

    /// When a page has shown each message first, in microseconds of the world.
    private(set) var firstShown: [Int: Int64] = [:]

    mutating func show(_ page: Page, now: Int64) {
        for message in page.messages where shown.insert(message.number).inserted { firstShown[message.number] = now }
        guard let last = page.messages.last?.number, let end = messages.firstIndex(where: { $0.number == last }) else {
            return
        }
        passedOver.formUnion(messages[..<end].lazy.filter { $0.visible > now }.map(\.number))
    }

    /// Messages that a page has left out between others. For the client such a message is newer than the page until another page shows it.
    private(set) var passedOver: Set<Int> = []

    private var late: Set<Int> = []

    /// Messages before the first message ever shown, and visible only later. The client takes such messages for older history,
    /// reports older history, and fetches the messages if asked to.
    private(set) var older: Set<Int> = []
    private var isBegun = false

    mutating func begin(at number: Int, now: Int64) {
        guard !isBegun, let index = messages.firstIndex(where: { $0.number == number }) else { return }
        isBegun = true
        for message in messages[..<index] where message.visible > now { older.insert(message.number) }
    }

    /// Forgets so many percent of the messages, the oldest first, as far as the client has the messages by its own account.
    /// - Parameter known: messages that the client has acknowledged. The client has such messages, too, without knowing their
    ///   places.
    /// - Returns: how many messages were forgotten now.
    mutating func expire(percent: Int, known: Set<Int>) -> Int {
        let before = forgotten
        let limit = messages.count * percent / 100
        // The oldest go first.
        if limit > 0 { history = [] }
        while forgotten < limit {
            let number = messages[forgotten].number
            // Messages before a place that the client asked for were shown, unless written late.
            if forgotten >= claimed || late.contains(number) {
                guard known.contains(number) else { break }
                unplaced.insert(number)
            }
            forgotten += 1
        }
        return forgotten - before
    }

    /// Forgets everything, read or not: the owner empties the archive, or all messages were too old.
    /// - Parameter known: messages that the client has acknowledged.
    /// - Returns: how many messages were forgotten now.
    mutating func purge(known: Set<Int>) -> Int {
        let before = forgotten
        history = []
        for (index, message) in messages.enumerated().dropFirst(forgotten) {
            unplaced.insert(message.number)
            if (index >= claimed || late.contains(message.number)) && !known.contains(message.number) {
                gone.insert(message.number)
            }
        }
        forgotten = messages.count
        return forgotten - before
    }

    /// Forgotten messages that the client perhaps never had.
    private(set) var gone: Set<Int> = []

    /// Messages forgotten before the client could ask for their places.
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

        /// Whether the query reads towards the end of the archive. Results before a place are older history, or only say that there is
        /// some: they prove nothing about what is sent later.
        var isForward: Bool { before == nil }
    }

    /// The answer to a query; nil if the query refers to an unknown message.
    func page(_ query: Query, now: Int64) -> Page? {
        var found = (history + messages.dropFirst(forgotten)).filter { message in
            message.isKept && message.visible <= now && message.at >= query.start ?? .min
                && message.at <= query.end ?? .max
                && query.with.map { message.from.hasPrefix($0) || message.to.hasPrefix($0) } ?? true
        }
        if let after = query.after {
            // Of twins the last: the servers go by the id alone, and page over the other twin.
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
