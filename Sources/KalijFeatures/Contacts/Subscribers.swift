import KalijSteps
import KalijAddress
import KalijHandlers
import KalijStore
import KalijXML

/// The contacts that may know whether the account is online: the subscribers of its presence (RFC 6121 section 3).
///
/// The roster is requested once in a session, at the first request from somebody other than the account itself; such
/// requests wait for the roster.
struct Subscribers {
    package let step: Step
    private var database: Database { step.database }
    private var account: Value { .integer(step.account.id) }

    private static let roster = "jabber:iq:roster"
    /// How many requests may wait for the roster, and how many bytes each may have.
    private static let mostWaiting: Int64 = 20
    private static let longestWaiting = 10_000

    enum Verdict { case may, mayNot, unknown }

    /// Whether an answer may show the sender of `iq` that this client is online. The account's other clients, the
    /// account's server and the subscribers may know.
    func mayKnow(_ sender: JID?) throws -> Verdict {
        guard let sender else { return .may }
        if sender.bare == step.account.jid || sender.description == step.account.jid.domain { return .may }
        guard try SessionRow.knowsSubscribers(step.account.id, in: database) else { return .unknown }
        let isSubscribed = try database.statement("SELECT 1 FROM subscriber WHERE account = ? AND jid = ?")
            .first([account, .text(sender.bare.description)]) { _ in true }
        return isSubscribed ?? false ? .may : .mayNot
    }

    /// Keeps `iq` until the roster is known, and requests the roster.
    /// - Returns: false if too many requests wait already, or if `iq` is too long.
    package func postpone(_ iq: Element) throws -> Bool {
        let bytes = iq.bytes()
        let waiting =
            try database.statement("SELECT count(*) FROM asker WHERE account = ?")
            .first([account]) { $0.integer() } ?? 0
        guard waiting < Self.mostWaiting, bytes.count <= Self.longestWaiting else { return false }
        try database.run("INSERT INTO asker(account, stanza) VALUES (?, ?)", [account, .blob(bytes)])
        try ask()
        return true
    }

    /// Asks for the roster, if it is not being asked for. All features are told when it has come, or will not
    /// (``Feature/contactsKnown(in:)``).
    func ask() throws {
        guard try !Requests(step: step).isWaiting([RosterTold.name]) else { return }
        try step.send(
            .request(.get, Element("query", xmlns: Self.roster)), then: RosterTold(), within: Limits.serverPatience)
    }

    /// The roster has arrived; nil if the server gives none. The waiting requests are answered.
    package func told(_ iq: Element?) throws {
        if let iq {
            try database.run("DELETE FROM subscriber WHERE account = ?", [account])
            for item in iq.child("query", Self.roster)?.children("item") ?? [] { try apply(item) }
            try SessionRow.set(subscribers: true, of: step.account.id, in: database)
        }
        let waiting = try database.statement("DELETE FROM asker WHERE account = ? RETURNING id, stanza")
            .all([account]) { ($0.integer("id"), $0.blob("stanza")) }
        for (_, bytes) in waiting.sorted(by: { $0.0 < $1.0 }) {
            try Responder(step: step).answerPostponed(try Element.parse(bytes))
        }
        for feature in step.features.all { try feature.contactsKnown(in: step) }
    }

    /// Applies the change in a roster push (RFC 6121 section 2.1.6); false if `iq` is not a push, or not from the
    /// account's server.
    package func push(_ iq: Element) throws -> Bool {
        guard iq["type"] == "set", let query = iq.child("query", Self.roster),
            iq["from"].map({ JID.received($0) == step.account.jid }) ?? true
        else { return false }
        for item in query.children("item") { try apply(item) }
        return true
    }

    /// In a new session the roster is unknown.
    package func sessionLost() throws {
        try SessionRow.set(subscribers: false, of: step.account.id, in: database)
        try database.run("DELETE FROM asker WHERE account = ?", [account])
    }

    private func apply(_ item: Element) throws {
        guard let jid = item["jid"].map({ JID.received($0).bare.description }) else { return }
        let isSubscribed = ["from", "both"].contains(item["subscription"])
        try database.run(
            isSubscribed
                ? "INSERT OR IGNORE INTO subscriber(account, jid) VALUES (?, ?)"
                : "DELETE FROM subscriber WHERE account = ? AND jid = ?",
            [account, .text(jid)])
    }
}

/// The roster has arrived, or the server gives none.
struct RosterTold: InvalidatableHandler {
    package static let name = "contacts.roster"

    func call(_ reply: IQReply, in step: Step) throws {
        if case .result(let iq) = reply {
            try Subscribers(step: step).told(iq)
        } else {
            try Subscribers(step: step).told(nil)
        }
    }

    /// The senders of waiting requests ask again in the next session.
    func invalidate(_ reason: Invalidation, in step: Step) throws {}
}
