import KalijAddress
import KalijStore
import KalijStream
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
    /// Whether stanza-ids by the account's own archive are trusted; known once the stanza is counted.
    private(set) var trustsArchive = false
    private var reservedPosition: Int64?

    init(database: Database, account: Account, now: Int64) {
        self.database = database
        self.account = account
        self.now = now
    }

    /// Hands a stanza to the session; it leaves after the commit and is kept until the server acknowledges it.
    func send(_ stanza: Element, request: String? = nil) throws {
        try OutboundQueue(database: database, account: account.id)
            .append(stanza.bytes(in: "jabber:client"), message: nil, request: request)
        effects.queued = true
    }

    /// Says that the archive is to be asked again in a while.
    func tryArchiveAgain() { effects.archiveAgain = true }

    /// Says that the server was asked something that other things wait for, though not for ever.
    func awaitAnswer() { effects.awaitsAnswer = true }

    /// Says that the queue is to be looked at after the commit.
    func flush() { effects.queued = true }

    /// Tells the application, after the commit.
    func emit(_ kind: EngineEvent.Kind) {
        effects.events.append(EngineEvent(account: account.jid, at: now, kind: kind))
    }

    /// Counts the stanza that the step is for, and gets what most stanzas need of the session in the same statement.
    func count(_ handled: HandledCount?) throws {
        let row = try database.statement(
            """
            UPDATE session SET handled = coalesce(?, handled), position = position + 1 WHERE account = ?
            RETURNING position, archive
            """
        ).first([.optional(handled.map { Int64($0.value) }), .integer(account.id)]) { ($0.integer(0), $0.bool(1)) }
        guard let (position, archive) = row else {
            throw StoreError(.corrupt, "account \(account.id) has no session row")
        }
        reservedPosition = position
        trustsArchive = archive
    }

    /// The next order number for a message; numbers may be left out.
    func nextPosition() throws -> Int64 {
        if let position = reservedPosition {
            reservedPosition = nil
            return position
        }
        return try database.statement("UPDATE session SET position = position + 1 WHERE account = ? RETURNING position")
            .first([.integer(account.id)]) { $0.integer(0) } ?? 0
    }

    /// What leaves once the step is committed.
    struct Effects {
        var events: [EngineEvent] = []
        /// Whether the queue has something new to write.
        var queued = false
        /// Whether the archive is to be asked again in a while.
        var archiveAgain = false
        /// Whether the server was asked something that other things wait for.
        var awaitsAnswer = false
    }
}
