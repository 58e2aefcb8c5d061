import KalijCore
import KalijAddress
import KalijStore
import KalijText
import KalijXML

/// The entities that may learn whether the account is online: the subscribers to its presence (RFC 6121 section 3). Requests from
/// other entities are postponed until the roster of the session is available.
struct Subscribers {
    package let step: Step
    private var database: Database { step.database }
    private var account: Value { .integer(step.account.id) }

    /// The maximum number of postponed requests, and the maximum length of each in bytes.
    private static let maxWaiting: Int64 = 20
    private static let maxWaitingLength = 10_000

    enum Verdict { case may, mayNot, unknown }

    /// Whether a response may disclose to `sender` that this client is online. It may to the account's other clients, the account's
    /// server, subscribers, and occupants of rooms that share presence; never to a blocked entity.
    func authorization(_ sender: JID?) throws -> Verdict {
        guard let sender else { return .may }
        if sender.bare == step.account.jid || sender.description.exact == step.account.jid.domain.exact { return .may }
        if try Blocklist(step: step).isBlocked(sender) { return .mayNot }
        return try subscription(of: sender)
    }

    /// Whether an entity that is not blocked may learn that this client is online.
    func subscription(of sender: JID) throws -> Verdict {
        if try step.hooks.roomProviders.contains(where: { try $0.sharesPresence(with: sender, in: step) }) {
            return .may
        }
        switch try SessionRow.roster(of: step.account.id, in: database) {
        case .unknown: return .unknown
        case .unavailable: return .mayNot
        case .known:
            let rows = RosterRows(database: database, account: step.account.id)
            return try rows.subscription(of: sender)?.isFrom ?? false ? .may : .mayNot
        }
    }

    /// Stores `iq` until the roster is available.
    /// - Returns: false if too many requests are stored already, or if `iq` is too long.
    package func postpone(_ iq: Element) throws -> Bool {
        let bytes = iq.bytes()
        let waiting =
            try database.statement("SELECT count(*) FROM asker WHERE account = ?")
            .first([account]) { $0.integer() } ?? 0
        guard waiting < Self.maxWaiting, bytes.count <= Self.maxWaitingLength else { return false }
        try database.run("INSERT INTO asker(account, stanza) VALUES (?, ?)", [account, .blob(bytes)])
        return true
    }

    /// The roster is available, or will not be in this session. Responds to the postponed requests, and notifies all features
    /// (``SessionObserver/didLoadContacts(in:)``).
    func rosterSettled() throws {
        let waiting = try database.statement("DELETE FROM asker WHERE account = ? RETURNING id, stanza")
            .all([account]) { ($0.integer("id"), $0.blob("stanza")) }
        for (_, bytes) in waiting.sorted(by: { $0.0 < $1.0 }) {
            try IQResponder(step: step).answerPostponed(try Element.parse(bytes))
        }
        for observer in step.hooks.sessionObservers { try observer.didLoadContacts(in: step) }
    }

    /// Discards the postponed requests: their senders repeat them in the next session.
    package func sessionLost() throws { try database.run("DELETE FROM asker WHERE account = ?", [account]) }
}
