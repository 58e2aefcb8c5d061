import KalijSteps
import KalijAddress
import KalijStore
import KalijText
import KalijXML

/// The contacts that may know whether the account is online: the subscribers of its presence (RFC 6121 section 3). Requests from
/// others wait until the roster of the session is known.
struct Subscribers {
    package let step: Step
    private var database: Database { step.database }
    private var account: Value { .integer(step.account.id) }

    /// How many requests may wait for the roster, and how many bytes each may have.
    private static let mostWaiting: Int64 = 20
    private static let longestWaiting = 10_000

    enum Verdict { case may, mayNot, unknown }

    /// Whether an answer may show the sender of `iq` that this client is online. The account's other clients, the
    /// account's server and the subscribers may know; nobody who is blocked.
    func mayKnow(_ sender: JID?) throws -> Verdict {
        guard let sender else { return .may }
        if sender.bare == step.account.jid || sender.description.exact == step.account.jid.domain.exact { return .may }
        if try Blocklist(step: step).isBlocked(sender) { return .mayNot }
        if try step.hooks.roomProviders.contains(where: { try $0.sharesPresence(with: sender, in: step) }) {
            return .may
        }
        switch try SessionRow.roster(of: step.account.id, in: database) {
        case .unknown: return .unknown
        case .unavailable: return .mayNot
        case .known:
            let contact = try RosterRows(database: database, account: step.account.id).contact(sender)
            return contact?.subscription.isFrom ?? false ? .may : .mayNot
        }
    }

    /// Keeps `iq` until the roster is known.
    /// - Returns: false if too many requests wait already, or if `iq` is too long.
    package func postpone(_ iq: Element) throws -> Bool {
        let bytes = iq.bytes()
        let waiting =
            try database.statement("SELECT count(*) FROM asker WHERE account = ?")
            .first([account]) { $0.integer() } ?? 0
        guard waiting < Self.mostWaiting, bytes.count <= Self.longestWaiting else { return false }
        try database.run("INSERT INTO asker(account, stanza) VALUES (?, ?)", [account, .blob(bytes)])
        return true
    }

    /// The roster is known, or will not be known in this session. The waiting requests are answered, and all features are told
    /// (``SessionObserver/didLoadContacts(in:)``).
    func rosterSettled() throws {
        let waiting = try database.statement("DELETE FROM asker WHERE account = ? RETURNING id, stanza")
            .all([account]) { ($0.integer("id"), $0.blob("stanza")) }
        for (_, bytes) in waiting.sorted(by: { $0.0 < $1.0 }) {
            try IQResponder(step: step).answerPostponed(try Element.parse(bytes))
        }
        for observer in step.hooks.sessionObservers { try observer.didLoadContacts(in: step) }
    }

    /// The senders of waiting requests ask again in the next session.
    package func sessionLost() throws { try database.run("DELETE FROM asker WHERE account = ?", [account]) }
}
