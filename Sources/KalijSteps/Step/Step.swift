import KalijAddress
import KalijHandlers
import KalijStore
import KalijStream
import KalijXML

/// The one transaction in which one inbound stanza, or one request to send, takes all of its effects.
///
/// Everything in it is synchronous and goes through ``database``; what is meant for the world outside is collected in
/// `effects` and leaves after the commit. Throwing rolls everything back. It is what handlers are called in; an
/// application keeps tables of its own in the same database, and changes them through it.
public final class Step {
    /// What everything in the step goes through; its transaction is open.
    public let database: Database
    /// Whose step it is.
    public let account: Account
    /// Milliseconds since 1970, as the machine's clock had them when the step began.
    public let now: Int64
    /// What waits goes by this one.
    package let steady: SteadyTime
    package let features: Features
    /// Where the handler that is called is written down; nil in a process that calls none.
    package let mark: CallMark?
    /// Whether messages are to be notified of.
    package let notifies: Bool
    package private(set) var effects = Effects()
    /// Promises whose waiting handlers are called before the commit.
    private var delivering: [Int64] = []
    /// How long the answer took that the step is for, in milliseconds from when its request last left, perhaps in another
    /// process; nil if the step is for something else.
    public private(set) var roundTrip: Int64?
    /// Whether the step is for the timeout of a request that has never left: it says nothing of whoever was to answer.
    package var isForUnsent = false
    /// When the account came here, in the time of the server, once that was asked for.
    package var since: Int64?
    /// Whether stanza-ids by the account's own archive are trusted; known once the stanza is counted.
    package private(set) var trustsArchive = false
    /// What the step changes in the session's row, which is written once, at its end; nil if no stanza is counted.
    private var counted: Counted?

    private struct Counted {
        /// What the handled count becomes, if it changes.
        package let handled: HandledCount?
        /// The last order number that was given to a message.
        package var position: Int64
        /// How many messages were stored.
        package var stored: Int64 = 0
    }

    package init(
        database: Database, account: Account, now: Int64, steady: SteadyTime, features: Features,
        mark: CallMark? = nil, notifies: Bool = false
    ) {
        self.steady = steady
        self.mark = mark
        self.notifies = notifies
        self.database = database
        self.account = account
        self.now = now
        self.features = features
    }

    package var handlers: HandlerRegistry<Step> { features.registry }

    /// Hands a stanza to the session; it leaves after the commit and is kept until the server acknowledges it.
    ///
    /// Not for messages, which are accepted (``Outgoing``), nor for requests whose answer matters
    /// (``send(_:then:within:)``): when the session is lost it is dropped, unless it is a receipt (XEP-0184) or a chat
    /// marker (XEP-0333), which is sent again.
    /// - Throws: `StanzaTooLong` if it is larger than the server takes; `StoreError`.
    public func send(_ stanza: Element) throws { try send(stanza, request: nil) }

    package func send(_ stanza: Element, request: String?) throws {
        try OutboundQueue(database: database, account: account.id)
            .append(
                stanza.bytes(in: "jabber:client"), message: nil, request: request,
                isLasting: features.outlivesSession(stanza))
        effects.queued = true
    }

    /// Says that a message was delivered live or acknowledged, which no page of the archive has shown yet.
    package func tailGrew() { effects.tail += 1 }

    /// Says that the archive is to be asked again in a while.
    package func tryArchiveAgain() { effects.archiveAgain = true }

    /// Says that a request waits until `deadline` of the steady time.
    package func await(request deadline: Int64) throws {
        effects.deadline = min(deadline, effects.deadline ?? .max)
        try steady.note(in: database)
    }

    /// Says that something is to be done at `time` of the steady time.
    package func await(timer time: Int64) throws {
        effects.timer = min(time, effects.timer ?? .max)
        try steady.note(in: database)
    }

    /// Says that a promise was settled.
    package func settled(_ promise: Int64, _ outcome: StoredValue) {
        effects.settled[promise] = outcome
        deliver(promise)
    }

    /// Says that an answer came, or none will, to a request that left at `time`.
    package func answered(after time: Int64) { roundTrip = time > 1 ? max(0, steady.now - time) : nil }

    /// Says that a handler that waited does so no longer.
    package func handlerCalled() { effects.handled = true }

    /// Says that handlers wait for a promise that is settled.
    package func deliver(_ promise: Int64) { delivering.append(promise) }

    /// The next promise whose handlers are to be called; nil if there is none, or if this process calls none.
    package func nextToDeliver() -> Int64? { features.canCall && !delivering.isEmpty ? delivering.removeFirst() : nil }

    /// What is left to be done before the commit: the handlers that wait for promises are called, and for those that
    /// these settle; and the session's row is written.
    package func finish() throws {
        for feature in features.all { try feature.finish(self) }
        guard let counted else { return }
        try database.run(
            "UPDATE session SET handled = coalesce(?, handled), position = ?, messages = messages + ? WHERE account = ?",
            [
                .optional(counted.handled.map { Int64($0.value) }), .integer(counted.position),
                .integer(counted.stored), .integer(account.id),
            ])
        self.counted = nil
    }

    /// Runs `body`; if it throws, what it changed is undone, and the step can go on.
    package func undoable(_ body: () throws -> Void) throws {
        let before = (effects, delivering, counted?.stored ?? 0)
        try database.run("SAVEPOINT part")
        do {
            try body()
            try database.run("RELEASE part")
        } catch {
            // Of an error of the machine the whole transaction may be gone, and with it this part of it.
            if let error = error as? StoreError, error.isMachineError { throw error }
            try database.run("ROLLBACK TO part")
            try database.run("RELEASE part")
            (effects, delivering) = (before.0, before.1)
            counted?.stored = before.2
            throw error
        }
    }

    /// Says that there is something to notify of.
    package func notified() { effects.notified = true }

    /// Says that the queue is to be looked at after the commit.
    package func flush() { effects.queued = true }

    /// Tells the application, after the commit; what there is to tell of a message is numbered first (``Telling``).
    package func emit(_ content: any EventContent, number: Int64? = nil) {
        if content is DeadLettered { effects.deadLetters += 1 }
        effects.events.append(EngineEvent(account: account.jid, at: now, content: content, number: number))
    }

    /// Counts the stanzas that the step is for, the last of which makes the handled count `handled`, and gets what most
    /// stanzas need of the session.
    package func count(_ handled: HandledCount?) throws {
        let row = try database.statement("SELECT position, stamps FROM session WHERE account = ?")
            .first([.integer(account.id)]) { ($0.integer("position"), $0.bool("stamps")) }
        guard let (position, stamps) = row else {
            throw StoreError(.corrupt, "account \(account.id) has no session row")
        }
        counted = Counted(handled: handled, position: position)
        trustsArchive = stamps
    }

    /// The next order number for a message; numbers may be left out.
    package func nextPosition() throws -> Int64 { try skipPositions(1) }

    /// Leaves room for `room` order numbers.
    /// - Returns: the last of them; the next number comes behind it.
    package func skipPositions(_ room: Int64) throws -> Int64 {
        if counted != nil {
            counted?.position &+= room
            return counted?.position ?? 0
        }
        return try database.statement("UPDATE session SET position = position + ? WHERE account = ? RETURNING position")
            .first([.integer(room), .integer(account.id)]) { $0.integer() } ?? 0
    }

    /// Says that a message was stored in a new row: the messages are counted here, so that nobody need count the rows.
    package func messageStored() throws {
        if counted != nil {
            counted?.stored &+= 1
            return
        }
        try database.run("UPDATE session SET messages = messages + 1 WHERE account = ?", [.integer(account.id)])
    }

    /// What leaves once the step is committed.
    package struct Effects {
        package var events: [EngineEvent] = []
        /// Whether the queue has something new to write.
        package var queued = false
        /// How many messages came or left that no page of the archive has shown yet.
        package var tail = 0
        /// Whether the archive is to be asked again in a while.
        package var archiveAgain = false
        /// The earliest deadline of a new request.
        package var deadline: Int64?
        /// The earliest time at which something new is to be done.
        package var timer: Int64?
        /// Promises that were settled, and with what.
        package var settled: [Int64: StoredValue] = [:]

        package init(events: [EngineEvent] = []) { self.events = events }
        /// Whether a handler was called or given up.
        package var handled = false
        /// Whether there is something to notify of.
        package var notified = false
        /// How many handlers could not be called.
        package var deadLetters = 0
    }
}
