import KalijAddress
import KalijStore
import KalijXML

/// The one transaction in which one inbound stanza, or one request to send, takes all of its effects.
///
/// Everything in it is synchronous and goes through ``database``; what is meant for the world outside is collected in
/// ``effects`` and leaves after the commit. Throwing rolls everything back.
final class Step {
    let database: Database
    let account: Account
    /// The step's only clock: milliseconds since 1970.
    let now: Int64
    private(set) var effects = Effects()

    init(database: Database, account: Account, now: Int64) {
        self.database = database
        self.account = account
        self.now = now
    }

    /// Hands a stanza to the session; it leaves after the commit and is kept until the server acknowledges it.
    func send(_ stanza: Element, message: Int64? = nil) throws {
        try OutboundQueue(database: database, account: account.id)
            .append(stanza.bytes(in: "jabber:client"), message: message)
        effects.queued = true
    }

    /// Says that the queue is to be looked at after the commit.
    func flush() { effects.queued = true }

    /// Tells the application, after the commit.
    func emit(_ kind: EngineEvent.Kind) {
        effects.events.append(EngineEvent(account: account.jid, at: now, kind: kind))
    }

    /// The next order number for a message.
    func nextPosition() throws -> Int64 {
        try database.statement("UPDATE session SET position = position + 1 WHERE account = ? RETURNING position")
            .first([.integer(account.id)]) { $0.integer(0) } ?? 0
    }

    /// What leaves once the step is committed.
    struct Effects {
        var events: [EngineEvent] = []
        /// Whether the queue has something new to write.
        var queued = false
    }
}
