import KalijAddress
import KalijStore

extension Step {
    /// Runs `body` as a step of a process that does not drive.
    /// - Parameter features: passive features that process accepted stanzas.
    package static func accept<Result>(
        for account: Account, in database: Database, clock: Clock, features: Features, _ body: (Step) throws -> Result
    ) throws -> Result {
        try StepRunner.checkOutside(database.path)
        return try database.transaction {
            let steady = try SteadyTime(in: database, clock)
            let step = Step(database: database, account: account, now: clock.now(), steady: steady, features: features)
            let result = try body(step)
            try step.transaction.events.write(at: step.now)
            return result
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
}
