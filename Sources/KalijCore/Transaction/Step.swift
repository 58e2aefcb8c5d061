import KalijAddress
import KalijHandlers
import KalijStore
import KalijStream
import KalijText
import KalijXML

/// The transaction for an inbound stanza, or for a request to send, with all of its effects.
///
/// Everything in a step is synchronous and in one database. Effects outside of the database are collected, and take place after
/// the commit. A thrown error rolls everything back. Features and handlers are called within a step. An application keeps tables
/// of its own in the same database, and changes them through ``tables``. A step is valid only until the call that received it
/// returns.
public final class Step {
    /// The connection for all writes of the step; its transaction is open.
    package let database: Database
    /// The account of the step.
    public let account: Account
    /// Milliseconds since 1970, by the machine's clock at the beginning of the step.
    public let now: Int64
    /// The time for deadlines.
    package let steady: SteadyTime
    package let features: Features
    package var hooks: HookTable { features.hooks }
    /// Records which handler is being called; nil in a process that calls no handlers.
    package let mark: CrashMarker?
    /// Whether new messages cause notifications.
    package let notifies: Bool
    /// The measured quality of the link to the server.
    package let link: LinkQuality
    package let transaction: TransactionState
    package private(set) var effects = Effects()
    /// Promises whose waiting handlers are called before the commit.
    private var delivering: [Int64] = []
    /// The duration of the answered request, in milliseconds since the request last left, perhaps in another process;
    /// nil if the step handles no answer.
    public private(set) var roundTrip: Int64?
    /// Whether the step handles the timeout of a request that was never sent; such a timeout proves nothing about the responder.
    package var isForUnsent = false
    /// The time when the account was added, in the server's time, once determined.
    package var since: Int64?
    package init(
        database: Database, account: Account, now: Int64, steady: SteadyTime, features: Features,
        mark: CrashMarker? = nil, notifies: Bool = false, link: LinkQuality = LinkQuality(),
        transaction: TransactionState? = nil
    ) {
        self.transaction =
            transaction ?? TransactionState(database, account: account.id, UnreadCounts(), ChatPartners())
        self.link = link
        self.steady = steady
        self.mark = mark
        self.notifies = notifies
        self.database = database
        self.account = account
        self.now = now
        self.features = features
    }

    package var handlers: HandlerRegistry<Step> { features.registry }

    /// Enqueues a stanza in the session. The stanza is sent after the commit, and is kept until the server acknowledges it.
    ///
    /// Not for messages, which are accepted (``OutgoingMessages``), nor for requests whose response matters
    /// (``send(_:then:within:)``). A lost session drops the stanza.
    /// - Throws: `StanzaTooLong` if the stanza is over the server's limit; `StoreError`.
    public func send(_ stanza: Element) throws { try send(stanza, request: nil) }

    package func send(_ stanza: Element, request: String?) throws {
        try OutboundQueue(database: database, account: account.id)
            .append(stanza.bytes(in: "jabber:client"), message: nil, request: request)
        effects.queued = true
    }

    /// Notes that a message was delivered live or acknowledged; no page of the archive has shown the message yet.
    package func tailGrew() { effects.tail += 1 }

    /// Notes that a request waits until `deadline` of the steady time.
    package func await(request deadline: Int64) throws {
        effects.deadline = min(deadline, effects.deadline ?? .max)
        try steady.record(in: database)
    }

    /// Notes that work is due at `time` of the steady time.
    package func await(timer time: Int64) throws {
        effects.timer = min(time, effects.timer ?? .max)
        try steady.record(in: database)
    }

    /// Notes that a promise was settled.
    package func settled(_ promise: Int64, _ outcome: StoredValue) {
        effects.settled[promise] = outcome
        deliver(promise)
    }

    /// Notes that a request that was sent at `time` has its response, or will not receive one.
    package func answered(after time: Int64) { roundTrip = time > 1 ? max(0, steady.now - time) : nil }

    /// Notes that a waiting handler was called or given up.
    package func handlerCalled() { effects.handled = true }

    /// Notes that handlers wait for a settled promise.
    package func deliver(_ promise: Int64) { delivering.append(promise) }

    /// The next promise whose handlers are to be called; nil if there is none, or if this process calls no handlers.
    package func nextToDeliver() -> Int64? { features.canCall && !delivering.isEmpty ? delivering.removeFirst() : nil }

    /// The last work of the step. Features finish: handlers of settled promises are called, also of promises settled by such handlers.
    package func finish() throws {
        for observer in hooks.transactionObservers { try observer.willEnd(self) }
    }

    /// The last work in the transaction of this step, and of steps that had the effects `before`: the session's row is written, and
    /// unread messages are counted.
    func close(after before: [Effects] = []) throws {
        try transaction.write()
        try transaction.events.write(at: now)
        for earlier in before {
            for (conversation, change) in earlier.unread {
                effects.unread[conversation, default: .arrived(0)].add(change)
            }
        }
        guard !effects.unread.isEmpty else { return }
        let conversations = effects.unread.keys.sorted().map(\.text)
        for observer in hooks.transactionObservers { try observer.didInvalidateUnread(in: conversations, step: self) }
    }

    /// Runs `body`; if `body` throws, its changes are undone, and the step can continue.
    package func undoable(_ body: () throws -> Void) throws {
        try transaction.events.write(at: now)
        let before = (effects, delivering, transaction.counted?.stored ?? 0, transaction.counted?.history)
        let last = transaction.events.last
        try database.run("SAVEPOINT part")
        do {
            try body()
            try database.run("RELEASE part")
        } catch {
            // After an error of the machine the whole transaction may have been rolled back, with this part.
            if let error = error as? StoreError, error.isMachineError { throw error }
            database.knownTables.forget()
            transaction.forgetChatPartners()
            try database.run("ROLLBACK TO part")
            try database.run("RELEASE part")
            (effects, delivering) = (before.0, before.1)
            transaction.events.undo(to: last)
            transaction.counted?.stored = before.2
            transaction.counted?.history = before.3
            throw error
        }
    }

    /// Notes that the unread messages of `conversation` may differ from those before the step. The features are notified at the
    /// end of the transaction.
    package func unreadMayDiffer(in conversation: String) { effects.unread[conversation.exact] = .other }

    /// Notes that the message in `row` of `conversation`, which was just inserted, is unread.
    package func unreadArrived(_ row: Int64, in conversation: String) {
        guard let last = transaction.lastShown, last.message == row, last.isLast else {
            return unreadMayDiffer(in: conversation)
        }
        effects.unread[conversation.exact, default: .arrived(0)].add(.arrived(1))
    }

    /// Notes that the queue has entries to write after the commit.
    /// - Parameter answers: how many of them answer stanzas that have arrived.
    package func flush(answers: Int = 0) {
        effects.queued = true
        effects.answers += answers
    }

    /// Notes that there is work for the service of `feature` (``FeatureService/stepDidCommit(_:isSignalled:)``).
    package func signal(_ feature: any ServiceProvider.Type) { effects.signal(feature) }

    /// Emits an event to the application after the commit: to `onEvent` of the engine, or to the loops over its events. The type
    /// of `content` is listed by its feature (``Feature/events``). A process that does not drive emits nothing.
    public func emit(_ content: some EventContent) { emit(content, number: nil) }

    /// Emits an event to the application after the commit; events about messages get a number first (`EventPublisher`).
    package func emit(_ content: any EventContent, number: Int64?) {
        if type(of: content) == HandlerDeadLettered.self { effects.deadLetters += 1 }
        effects.events.append(EngineEvent(account: account.jid, at: now, content: content, number: number))
    }

    /// Counts the stanzas of the step; the first step of a transaction reads the session's columns that most stanzas need. `handled`
    /// is the handled count after the last stanza.
    package func count(_ handled: HandledCount?) throws {
        guard transaction.counted == nil else {
            transaction.counted?.handled = handled
            return
        }
        let row = try database.statement("SELECT position, stamps FROM session WHERE account = ?")
            .first([.integer(account.id)]) { ($0.integer("position"), $0.bool("stamps")) }
        guard let (position, stamps) = row else {
            throw StoreError(.corrupt, "account \(account.id) has no session row")
        }
        transaction.counted = TransactionState.Counted(handled: handled, position: position)
        transaction.trustsArchive = stamps
    }

    /// The next order number for a message; numbers may be left out.
    package func nextPosition() throws -> Int64 { try skipPositions(1) }

    /// Reserves `room` order numbers.
    /// - Returns: the last of them; the next number follows it.
    package func skipPositions(_ room: Int64) throws -> Int64 {
        if transaction.counted != nil {
            transaction.counted?.position &+= room
            return transaction.counted?.position ?? 0
        }
        return try database.statement("UPDATE session SET position = position + ? WHERE account = ? RETURNING position")
            .first([.integer(room), .integer(account.id)]) { $0.integer() } ?? 0
    }

    /// Notes that a message was stored in a new row, or that its row was deleted (-1): this count makes counting rows unnecessary.
    package func messageStored(_ count: Int64 = 1) throws {
        effects.texts = true
        if transaction.counted != nil {
            transaction.counted?.stored &+= count
            return
        }
        try database.run(
            "UPDATE session SET messages = messages + ? WHERE account = ?", [.integer(count), .integer(account.id)])
    }

    /// Notes that the text of a stored message was changed.
    package func textChanged() { effects.texts = true }

    /// The effects that take place after the commit.
    package struct Effects {
        package var events: [EngineEvent] = []
        /// Whether the queue has new entries to write.
        package var queued = false
        /// How many answers to requests are in the queue.
        package var answers = 0
        /// How many messages were received or sent that no page of the archive has shown yet.
        package var tail = 0
        /// The earliest deadline of a new request.
        package var deadline: Int64?
        /// The earliest time of new work.
        package var timer: Int64?
        /// Settled promises, with their outcomes.
        package var settled: [Int64: StoredValue] = [:]

        package init(events: [EngineEvent] = []) { self.events = events }
        /// The conversations whose unread messages may differ from those before the step.
        package var unread: [ExactText: UnreadChange] = [:]
        /// Whether a handler was called or given up.
        package var handled = false
        /// Whether texts were stored or changed.
        package var texts = false
        /// The features whose services have work.
        private var signalled: [ObjectIdentifier] = []
        /// How many handlers could not be called.
        package var deadLetters = 0

        /// Whether the service of `feature` has work.
        package func isSignalled(_ feature: any Feature.Type) -> Bool { isSignalled(ObjectIdentifier(feature)) }
        package func isSignalled(_ feature: ObjectIdentifier) -> Bool { signalled.contains(feature) }

        package mutating func signal(_ feature: any ServiceProvider.Type) { add([ObjectIdentifier(feature)]) }

        private mutating func add(_ features: [ObjectIdentifier]) {
            for feature in features where !signalled.contains(feature) { signalled.append(feature) }
        }

        /// The effects without the conversations whose unread messages were counted.
        var counted: Effects {
            var counted = self
            counted.unread = [:]
            return counted
        }

        /// Adds what happened later in the same transaction.
        mutating func add(_ later: Effects) {
            events += later.events
            (queued, handled, texts) = (queued || later.queued, handled || later.handled, texts || later.texts)
            add(later.signalled)
            answers += later.answers
            (tail, deadLetters) = (tail + later.tail, deadLetters + later.deadLetters)
            deadline = [deadline, later.deadline].compactMap { $0 }.min()
            timer = [timer, later.timer].compactMap { $0 }.min()
            settled.merge(later.settled) { $1 }
            for (conversation, change) in later.unread { unread[conversation, default: .arrived(0)].add(change) }
        }
    }
}
