import KalijAddress
import KalijCore
import KalijStore

extension Step {
    /// Runs `body` as a step of a process that does not drive. The step may queue stanzas, register handlers, schedule timers, and
    /// create and settle promises; the driving process sends the stanzas and calls the handlers. Ring the driving process's `Doorbell`
    /// around the step.
    /// - Parameters:
    ///   - database: a connection that syncs (`Database.Durability.machine`), used by the calling thread alone.
    ///   - clock: the source of time.
    ///   - account: the account of the step.
    ///   - body: the work of the step.
    /// - Returns: the result of `body`, once everything is on the disk.
    /// - Throws: `StoreError`, `StepError.withinStep` within a step of a process that drives, or the error of `body`; then nothing was
    ///   committed.
    @discardableResult
    public static func accept<Result>(
        for account: Account, in database: Database, clock: Clock = .system, _ body: (Step) throws -> Result
    ) throws -> Result {
        try accept(for: account, in: database, clock: clock, features: .passive, body)
    }

    /// - Parameter features: passive features that process accepted stanzas.
    package static func accept<Result>(
        for account: Account, in database: Database, clock: Clock, features: Features, _ body: (Step) throws -> Result
    ) throws -> Result {
        try StepRunner.checkOutside(database.path)
        return try database.transaction {
            let steady = try SteadyTime(in: database, clock)
            return try body(
                Step(database: database, account: account, now: clock.now(), steady: steady, features: features))
        }
    }

    /// Accepts a chat message as a part of the step: the message is sent exactly once if the step is committed, and never if not. A
    /// reply can thus be accepted in the step that stores the message to which it replies.
    /// - Parameters:
    ///   - body: the text.
    ///   - recipient: the receiver.
    ///   - id: the id of the message, its origin-id (XEP-0359); nil for a new id. A message accepted before with the same id is not
    ///     sent again.
    ///   - answered: the message that the text replies to (XEP-0461); nil if there is none.
    /// - Returns: the message in the state `queued`; `failed` if the server has announced a lower limit for stanzas (XEP-0478); or the
    ///   message accepted before with `id`, unchanged.
    /// - Throws: `AcceptError` for a text that cannot be sent: then nothing was accepted, and the step can continue. `StoreError`:
    ///   rethrow the error.
    @discardableResult
    public func accept(
        _ body: String, to recipient: JID, id: String? = nil, answering answered: Message? = nil
    ) throws -> Message {
        let text = try OutgoingText(
            body, to: recipient, id: id, answering: answered.map { message throws(AcceptError) in try .init(message) })
        if let known = try text.known(in: self) { return known }
        flush()
        return try text.enqueue(in: self, sentAt: now)
    }

    /// Whether a message is from before the account was added to this directory: true for messages of the archive's first reading, and
    /// for older history fetched later. False for messages received since, even while no process ran. A bot does not reply to history.
    ///
    /// The server's time is used if it is known (XEP-0202), else the machine's clock minus an hour. In doubt a message is new.
    /// - Throws: `StoreError`
    public func isHistory(_ message: IncomingMessage) throws -> Bool {
        try message.isHistory || message.source == .archive && message.sentAt < ServerTime(step: self).since
    }
}
