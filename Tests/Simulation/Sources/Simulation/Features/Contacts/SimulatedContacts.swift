import KalijStore
import KalijXML

extension Violation.Promise {
    /// The roster, requests and presence (RFC 6121 sections 2 to 4).
    static let contacts = Violation.Promise("contacts")
}

/// The account's roster (RFC 6121 section 2), with versions. One correspondent has a subscription to the account's presence. Another
/// client of the account changes the roster, the correspondent pushes forged changes, and a stranger asks at each login.
final class SimulatedContacts: SimulatedFeature {
    /// The contact that may know that the account is online.
    static let subscriber = "romeo@example.net"
    private static let asker = "tybalt@example.com"
    private static let forger = "mallory@example.net"
    private static let client = subscriber + "/client"
    /// A single Character.
    private static let words = "a" + String(repeating: "\u{301}", count: 1500)
    /// The most bytes of a stranger's words that may be kept.
    private static let mostWords: Int64 = 1000

    unowned let server: SimulatedServer
    /// The subscriptions, by the contacts' addresses.
    private var roster = [subscriber: "both", SimulatedBlocking.blocked: "both"]
    private var version = 1
    /// The sessions that have asked for the roster.
    private var interested: Set<String> = []
    /// How many messages the client has sent.
    private var messages = 0
    /// Whether the client has acknowledged a request.
    private var hasAsked = false
    /// The sessions that know that the contact's client is there.
    private var shown: Set<String> = []
    /// The answers to requests that no user has answered.
    private var unasked: [String] = []

    init(_ server: SimulatedServer) { self.server = server }

    /// The account has had another contact from the beginning.
    func add(_ contact: String) { roster[contact] = "both" }

    func answer(_ request: Element, of session: ServerSession) -> SimulatedAnswer? {
        guard let query = request.child("query", "jabber:iq:roster") else { return nil }
        interested.insert(session.id)
        guard query["ver"] != "\(version)" else { return .result("") }
        let items = roster.sorted { $0.key < $1.key }.map { Self.item($0.key, $0.value) }.joined()
        return .result("<query xmlns='jabber:iq:roster' ver='\(version)'>\(items)</query>")
    }

    /// Another client of the account changes a contact with every other message of this client's.
    func sent(_ message: Element, by session: ServerSession) {
        messages += 1
        guard messages % 2 == 0 else { return }
        let contact = "contact-\(messages / 2 % 4)@example.net"
        let next = [nil: "none", "none": "to", "to": nil][roster[contact]] ?? nil
        roster[contact] = next
        version += 1
        push(Self.item(contact, next ?? "remove"), from: "")
        push(Self.item(Self.forger, "both"), from: " from='\(Self.subscriber)'")
    }

    private func push(_ item: String, from sender: String) {
        for session in server.sessions where interested.contains(session.id) {
            server.send(
                """
                <iq type='set' id='\(server.newID("push"))'\(sender)>\
                <query xmlns='jabber:iq:roster' ver='\(version)'>\(item)</query></iq>
                """, to: session)
        }
    }

    private static func item(_ jid: String, _ subscription: String) -> String {
        "<item jid='\(jid)' subscription='\(subscription)'/>"
    }

    /// A session becomes available: the server repeats the request, and tells in every other session that the contact is there.
    func present(_ presence: Element, of session: ServerSession) {
        if let type = presence["type"], type != "unavailable" { unasked.append("\(type) to \(presence["to"] ?? "-")") }
        guard presence["type"] == nil else { return }
        server.send(
            "<presence type='subscribe' from='\(Self.asker)'><status>\(Self.words)</status></presence>", to: session
        ) { [weak self] in self?.hasAsked = true }
        server.send("<presence from='\(Self.forger)/x'/>", to: session)
        guard server.begun % 2 == 1 else { return }
        server.send("<presence from='\(Self.client)'/>", to: session) { [weak self] in
            self?.shown.insert(session.id)
        }
    }

    func check(_ database: Database, of simulation: Simulation) throws -> [Violation] {
        try (checkRoster(database) + checkRequests(database) + checkPresence(database)).map { Violation(.contacts, $0) }
    }

    /// The rows are the server's, if the server was asked. An heir to a session may have taken a push away.
    private func checkRoster(_ database: Database) throws -> [String] {
        let isKnown = try database.prepare("SELECT subscribers FROM session").first { $0.integer() } == 1
        let rows = try database.prepare("SELECT jid, subscription FROM contact").all {
            ($0.text("jid"), $0.text("subscription"))
        }
        if rows.contains(where: { $0.0 == Self.forger }) { return ["a contact's push was taken"] }
        guard isKnown, !server.profile.hasSeveralHeirs, Dictionary(uniqueKeysWithValues: rows) != roster else {
            return []
        }
        return ["the roster is \(roster), and stored is \(rows)"]
    }

    private func checkRequests(_ database: Database) throws -> [String] {
        let rows = try database.prepare("SELECT jid FROM subscription_request").all { $0.text() }
        let isStored = rows == [Self.asker] || rows.isEmpty && !hasAsked
        let longest =
            try database.prepare("SELECT max(length(CAST(status AS BLOB))) FROM subscription_request")
            .first { $0.integer() } ?? 0
        let isLong = longest > Self.mostWords
        return (isStored ? [] : ["the requests are \(rows)"])
            + (isLong ? ["\(longest) bytes of a stranger's words are kept"] : [])
            + unasked.map { "nobody has answered, but sent was \($0)" }
    }

    /// Whoever has gone is not shown in a new session; whoever is there is.
    private func checkPresence(_ database: Database) throws -> [String] {
        let rows = try database.prepare("SELECT contact || '/' || resource FROM presence").all { $0.text() }
        guard rows.allSatisfy({ $0 == Self.client || $0.hasPrefix(server.account) }) else {
            return ["the presence of strangers is stored: \(rows)"]
        }
        let isThere = server.begun % 2 == 1
        guard rows.contains(Self.client) != isThere,
            !isThere || server.sessions.contains(where: { shown.contains($0.id) })
        else { return [] }
        return ["the contact is \(isThere ? "there" : "gone"), and stored is \(rows)"]
    }
}
