import KalijStore
import KalijXML

/// The account's archive (XEP-0313, XEP-0441), if the server keeps an archive; and in any case the record of all messages.
final class SimulatedArchive: SimulatedFeature {
    unowned let server: SimulatedServer
    private(set) var archive = Archive()
    private var hasAnsweredPage = false
    private var lastNumber = 0
    private var profile: Profile { server.profile }
    private var world: World { server.world }

    init(_ server: SimulatedServer) { self.server = server }

    var announced: [String] { profile.hasArchive ? ["urn:xmpp:mam:2", "urn:xmpp:sid:0"] : [] }

    /// The number for the next message.
    var nextNumber: Int { lastNumber + 1 }

    func answer(_ request: Element, of session: ServerSession) -> SimulatedAnswer? {
        guard profile.hasArchive else { return nil }
        if let query = request.child("query", "urn:xmpp:mam:2") { return show(Archive.Query(query), to: session) }
        guard profile.hasPreferences, request.child("prefs", "urn:xmpp:mam:2") != nil else { return nil }
        return .result(
            "<prefs xmlns='urn:xmpp:mam:2' default='\(profile.policy.rawValue)'><always/><never/></prefs>")
    }

    func restarted() { hasAnsweredPage = false }

    /// Writes a message into the archive.
    /// - Parameters:
    ///   - content: the children of the stanza, as XML.
    ///   - body: the text of the message, if any.
    ///   - isArchivable: whether the server archives such messages.
    @discardableResult
    func file(
        _ content: String, body: String?, id: String, from: String, to: String, isLive: Bool, isArchivable: Bool = true
    ) -> ArchivedMessage {
        server.moved()
        lastNumber += 1
        let previous = archive.messages.last
        let peer = from.hasPrefix(server.account) ? to : from
        let isKept = isArchivable && profile.keeps(String(peer.prefix { $0 != "/" }))
        let isTwin =
            isLive && isKept && previous?.isKept ?? false && world.random.pick(0...999) < profile.twins
            && previous.map { $0.from != from } ?? false
        let archiveID = isTwin ? previous?.id ?? "" : server.newID("a")
        let isLate = world.random.pick(0...999) < profile.archivedLate
        let message = ArchivedMessage(
            id: archiveID, from: from, to: to, messageID: id, body: body,
            stanza: "<message from='\(from)' to='\(to)' type='chat' id='\(id)'>\(content)</message>",
            at: world.milliseconds, visible: world.now + (isLate ? world.random.pick(10_000...1_100_000) : 0),
            number: lastNumber, isKept: isKept)
        archive.add(message, now: world.now)
        return message
    }

    /// Adds a contact's message from long before the first login, after those added so.
    func fileHistory(_ id: String, from sender: String) {
        let number = archive.history.count
        let message = ArchivedMessage(
            id: server.newID("o"), from: sender, to: server.account, messageID: id, body: id,
            stanza: """
                <message from='\(sender)' to='\(server.account)' type='chat' id='\(id)'><body>\(id)</body>\
                <request xmlns='urn:xmpp:receipts'/><markable xmlns='urn:xmpp:chat-markers:0'/></message>
                """,
            at: world.milliseconds - 90 * 24 * 3_600_000 + Int64(number) * 1000, visible: 0, number: -1 - number,
            isKept: true)
        archive.addHistory(message)
    }

    /// Forgets old messages that the client has by its own account: by asking for later messages.
    func expire(percent: Int) {
        world.counts.forgotten += archive.expire(percent: percent, known: server.acknowledgedMessages)
    }

    /// Forgets all messages.
    func purge() {
        world.counts.purges += 1
        world.counts.forgotten += archive.purge(known: server.acknowledgedMessages)
    }

    private func show(_ query: Archive.Query, to session: ServerSession) -> SimulatedAnswer {
        guard startsArchive() else { return .error(condition: "internal-server-error", type: "wait") }
        guard let page = page(query) else { return .error(condition: "item-not-found", type: "cancel") }
        for message in page.messages {
            let queryID = query.queryID.map { " queryid='\($0)'" } ?? ""
            server.send(
                """
                <message from='\(server.account)' to='\(server.address(session))'><result xmlns='urn:xmpp:mam:2'\(queryID) \
                id='\(message.id)'><forwarded xmlns='urn:xmpp:forward:0'><delay xmlns='urn:xmpp:delay' \
                stamp='\(Stamp.text(message.at))'/>\(server.inClient(message.stanza))</forwarded></result></message>
                """, to: session, message: query.isForward ? message.number : nil, isPage: true)
        }
        // Some archives do not say that a page is the last (openfire, older ejabberd).
        let isTerse = server.profile.hasOddPeers && archive.messages.count.isMultiple(of: 2)
        let bounds =
            page.messages.isEmpty
            ? isTerse ? "<count>\(archive.messages.count)</count>" : ""
            : "<first>\(page.messages[0].id)</first><last>\(page.messages[page.messages.count - 1].id)</last>"
        return .result(
            """
            <fin xmlns='urn:xmpp:mam:2'\(page.isComplete && !isTerse ? " complete='true'" : "")>\
            <set xmlns='http://jabber.org/protocol/rsm'>\(bounds)</set></fin>
            """)
    }

    /// Whether a page can be given now.
    private func startsArchive() -> Bool {
        defer { hasAnsweredPage = true }
        return hasAnsweredPage || !profile.archiveStartsSlowly
    }

    private func page(_ query: Archive.Query) -> Archive.Page? {
        archive.claim(query.after)
        let page = archive.page(query, now: world.now)
        if let page { archive.show(page, now: world.now) }
        if query.after == nil, query.before == nil, let first = page?.messages.first {
            archive.begin(at: first.number, now: world.now)
        }
        return page
    }

    /// Promise 1: every archived message is in the history, once, and in the archive's order.
    func check(_ database: Database, of simulation: Simulation) throws -> [Violation] {
        var violations: [Violation] = []
        let rows = try StoredMessage.all(in: database, server)
        var count: [String: Int] = [:]
        for row in rows { count[row.body ?? "", default: 0] += 1 }
        let archived = simulation.expected
        let older = Set(archive.messages.lazy.filter { self.archive.older.contains($0.number) }.compactMap(\.body))
        let gone = Set(archive.messages.lazy.filter { self.archive.gone.contains($0.number) }.compactMap(\.body))
        for body in archived
        where count[body] != 1 && !((older.contains(body) || gone.contains(body)) && count[body] == nil) {
            violations.append(Violation(.promise1, "\(body) is there \(count[body] ?? 0) times"))
        }
        // Nobody can tell the place of a message that expired before anybody asked for its place. All others stand in the
        // archive's order.
        // A file may be sent at the very end, after the last reading.
        let unplaced = Set(
            archive.messages.lazy.filter {
                $0.body?.hasPrefix(SimulatedFiles.address) ?? false && self.archive.firstShown[$0.number] == nil
                    || self.archive.unplaced.contains($0.number) || self.server.omemo.repeated.contains($0.messageID)
                    || self.profile.hasArchive && !$0.isKept
            }.compactMap(\.body))
        // A text that was sent again has a single place, and perhaps two in the archive.
        let repeated = try server.feature(SimulatedResending.self).repetitions(in: database)
        let placed = archived.filter { !unplaced.contains($0) && !older.contains($0) && repeated[$0] == nil }
        let known = Set(placed)
        let shown = rows.compactMap(\.body).filter { known.contains($0) }
        if violations.isEmpty, shown != placed {
            let place = zip(shown, placed).first { $0 != $1 }
            violations.append(
                Violation(.promise1, "in the place of \(place?.1 ?? "-") the history shows \(place?.0 ?? "-")"))
        }
        return violations
    }
}

extension SimulatedServer {
    /// The account's archive, and the record of all messages.
    var archive: Archive { feature(SimulatedArchive.self).archive }
}
