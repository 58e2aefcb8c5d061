import KalijAddress
import KalijHandlers
import KalijCore
import KalijStore
import KalijXML

/// The type of a presence about a subscription (RFC 6121 section 3).
enum SubscriptionType: String {
    case subscribe, subscribed, unsubscribed

    /// The direction of the subscription. A later stanza of a side supersedes an earlier one.
    var side: String { self == .subscribe ? "to" : "from" }
}

/// Outgoing subscription presence whose delivery to the server is confirmed. A presence stanza has no response, so a ping follows it:
/// the server processes both in order, and the response confirms that the presence was processed. Until then the stanza is a row, and
/// is sent again in a new session.
struct PendingSubscriptions {
    let step: Step
    private var database: Database { step.database }
    private var account: Value { .integer(step.account.id) }

    /// The long timeout suffices: no action is required until the session is lost.
    private static let timeout = Duration.seconds(3600)

    /// Whether an answer to a request of `jid` is outstanding.
    func isAnswered(_ jid: JID) throws -> Bool {
        try database.statement("SELECT 1 FROM subscription_owed WHERE account = ? AND jid = ? AND side = 'from'")
            .first([account, .text(jid.description)]) { _ in true } ?? false
    }

    /// Sends a stanza, which replaces a pending stanza of the same side.
    /// - Parameters:
    ///   - intent: the id of the intent that ends when the server has processed the stanza.
    ///   - preauth: the token of an invitation by `jid` (XEP-0379).
    func send(_ type: SubscriptionType, to jid: JID, intent: String? = nil, preauth: String? = nil) throws {
        try end(jid, type.side, .failed("a later command says something else"))
        try database.run(
            "INSERT INTO subscription_owed(account, jid, side, type, intent, preauth) VALUES (?, ?, ?, ?, ?, ?)",
            [
                account, .text(jid.description), .text(type.side), .state(type), .optional(intent),
                .optional(preauth),
            ])
        try send(database.lastInsertedRow, jid.description, type.rawValue, preauth)
    }

    /// Discards the pending stanzas to `jid`: the contact was removed.
    func forget(_ jid: JID) throws {
        for side in ["to", "from"] { try end(jid, side, .failed("the contact was removed")) }
    }

    private func end(_ jid: JID, _ side: String, _ outcome: IntentOutcome) throws {
        let intent = try database.statement(
            "DELETE FROM subscription_owed WHERE account = ? AND jid = ? AND side = ? RETURNING intent"
        ).first([account, .text(jid.description), .text(side)]) { $0.optionalText() }
        if case let intent?? = intent { try Intents(step: step).end(intent, outcome) }
    }

    private func send(_ row: Int64, _ jid: String, _ type: String, _ preauth: String?) throws {
        let presence = Element("presence", xmlns: "jabber:client", attributes: ["to": jid, "type": type])
        if let preauth {
            presence.add(Element("preauth", xmlns: "urn:xmpp:pars:0", attributes: ["token": preauth]))
        }
        try step.send(presence)
        try sendPing(row)
    }

    fileprivate func sendPing(_ row: Int64) throws {
        try step.send(.ping(nil), then: SubscriptionTimer(row: row), within: Self.timeout)
    }

    /// The server has processed the stanza in `row`.
    fileprivate func arrived(_ row: Int64) throws {
        let intent = try database.statement(
            "DELETE FROM subscription_owed WHERE id = ? AND account = ? RETURNING intent"
        ).first([.integer(row), account]) { $0.optionalText() }
        if case let intent?? = intent { try Intents(step: step).end(intent, .done) }
    }

    // MARK: Sessions

    /// The session is lost, and with it possibly the stanzas: their pings are void.
    func sessionLost() throws { try Requests(step: step).forget(SubscriptionTimer.name, unqueueing: true) }

    /// Sends the pending stanzas again in a new session. They precede the initial presence, so that the server does not redeliver
    /// requests that they answer.
    func sessionBegan() throws {
        let all = try database.statement(
            "SELECT id, jid, type, preauth FROM subscription_owed WHERE account = ? ORDER BY id"
        ).all([account]) { ($0.integer("id"), $0.text("jid"), $0.text("type"), $0.optionalText("preauth")) }
        for (row, jid, type, preauth) in all { try send(row, jid, type, preauth) }
    }
}

/// The response to the ping after a subscription presence: the server has processed the presence.
struct SubscriptionTimer: Handler {
    static let name = "contacts.subscription"
    let row: Int64

    func call(_ reply: IQReply, in step: Step) throws {
        let owed = PendingSubscriptions(step: step)
        // The stanza is still queued in the session: only the ping is repeated.
        if case .timeout = reply { try owed.sendPing(row) } else { try owed.arrived(row) }
    }
}
