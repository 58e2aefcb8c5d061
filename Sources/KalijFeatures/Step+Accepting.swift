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
}

extension OutgoingMessages {
    /// Stores and enqueues a chat message.
    /// - Parameters:
    ///   - database: a connection that syncs (`Database.Durability.machine`).
    ///   - clock: the source of time.
    ///   - account: the sender.
    ///   - body: the text.
    ///   - recipient: the recipient.
    ///   - id: the id of the message, its origin-id (XEP-0359); nil for a new id. A message accepted before under the same id is
    ///     returned unchanged, and not sent again.
    /// - Returns: the message in the state `queued`, or the message accepted before under the id.
    /// - Throws: `AcceptError` for a text that cannot be sent, `StoreError`. Then nothing was accepted.
    public static func accept(
        _ body: String, to recipient: JID, of account: Account, in database: Database, clock: Clock = .system,
        id: String? = nil
    ) throws -> Message {
        let text = try OutgoingText(body, to: recipient, id: id)
        return try Step.accept(for: account, in: database, clock: clock, text.accept)
    }
}
