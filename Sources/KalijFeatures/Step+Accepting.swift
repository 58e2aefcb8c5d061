import KalijAddress
import KalijSteps
import KalijStore

extension Step {
    /// Runs `body` as a step of a process that does not drive: it may queue, register handlers, schedule timers, make and
    /// settle promises; the process that drives sends and calls. Ring that one's `Doorbell` around it.
    /// - Parameters:
    ///   - database: a connection that syncs (`Database.Durability.machine`), used by this thread alone.
    ///   - clock: where time comes from.
    ///   - account: whose.
    ///   - body: what the step does.
    /// - Returns: what `body` returns, once everything is on the disk.
    /// - Throws: `StoreError`, `StepError.withinStep` within a step of a process that drives, or what `body` throws; then nothing
    ///   has happened.
    @discardableResult
    public static func accept<Result>(
        for account: Account, in database: Database, clock: Clock = .system, _ body: (Step) throws -> Result
    ) throws -> Result {
        try accept(for: account, in: database, clock: clock, features: .passive, body)
    }

    /// - Parameter features: passive ones, which have their turn in what is accepted.
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

    /// Accepts a chat message as a part of the step: it is sent once if the step is committed, and never if not. So the answer to a
    /// message is given in the step in which the message is stored.
    /// - Parameters:
    ///   - body: what it says.
    ///   - recipient: who gets it.
    ///   - id: the id under which it is sent, its origin-id (XEP-0359); nil for one that is made here. What was accepted under it
    ///     before is not sent again.
    /// - Returns: the message in the state `queued`; `failed` if the server has announced that it does not take so much
    ///   (XEP-0478); or, with an `id` that was accepted before, the message as it is.
    /// - Throws: `AcceptError` for a text that cannot be sent: then nothing was accepted, and the step can go on. `StoreError`, which
    ///   is to be passed on.
    @discardableResult
    public func accept(_ body: String, to recipient: JID, id: String? = nil) throws -> Message {
        let text = try OutgoingText(body, to: recipient, id: id)
        if id != nil, let known = try Message.accepted(text.id, by: account, in: database) { return known }
        flush()
        return try text.storeOrFail(in: self, sentAt: now)
    }

    /// Whether a message is from before the account came to this directory: what the first reading of an archive shows, and older
    /// history that is fetched. What has come for the account since, while no process ran, is not. A bot does not answer the former.
    ///
    /// The server's time counts, as far as it is known (XEP-0202), else the machine's clock less an hour. In doubt a message is new.
    /// - Throws: `StoreError`
    public func isHistory(_ message: IncomingMessage) throws -> Bool {
        try message.source == .archive && message.sentAt < ServerTime(step: self).since
    }
}
