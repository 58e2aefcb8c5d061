import KalijAddress
import KalijCore
import KalijEngine
import KalijFeatures
import KalijStore

extension Engine {
    /// Accepts a message of the account `sender`, or of the only account, and sends it, after messages accepted earlier by other
    /// processes.
    /// - Parameters:
    ///   - body: the text.
    ///   - recipient: the recipient.
    ///   - sender: the account; nil selects the only account.
    ///   - id: the id of the message, its origin-id (XEP-0359); nil generates one. A message already accepted under this id is
    ///     not sent again.
    ///   - answered: the message that the text answers (XEP-0461); nil if there is none.
    ///   - privacy: whether to encrypt the text.
    ///   - endsDraft: whether the text was the conversation's draft. The draft is removed when the message is accepted.
    /// - Returns: the message in the state `queued`, on the disk. If a message was already accepted under this `id`, returns that
    ///   message unchanged.
    /// - Throws: `AcceptError`, `DirectoryError.whichAccount`, `StoreError`; `StepError.withinStep` if called from a handler. In
    ///   each case nothing was accepted.
    public func accept(
        _ body: String, to recipient: JID, from sender: JID? = nil, id: String? = nil,
        answering answered: MessageReference? = nil, privacy: EncryptionPreference = .asConversation,
        endsDraft: Bool = false
    ) throws -> Message {
        try StepRunner.checkOutside(directory.databasePath)
        importMailbox()
        let database = try accepting ?? Database(path: directory.databasePath, durability: .machine)
        accepting = database
        let account = try AccountTable(database).account(sender, in: directory)
        var text = try OutgoingText(
            body, to: recipient, id: id, answering: answered?.answered(by: account, in: database), privacy: privacy)
        text.endsDraft = endsDraft
        let features = context?.runner.features.passive ?? .passive
        let message = try Step.accept(for: account, in: database, clock: clock, features: features, text.accept)
        environment.loop.enqueue { [weak self] in self?.drivers[account.id]?.queueChanged() }
        return message
    }

    /// Performs an intent of the account `jid`, or of the only account, after intents and messages accepted earlier by other
    /// processes.
    /// - Parameters:
    ///   - intent: the change to perform.
    ///   - jid: the account; nil selects the only account.
    ///   - id: the id of the intent; nil generates one. An intent already accepted under this id is not performed again.
    /// - Returns: the id of the intent, which is on the disk; `IntentEnded` reports the outcome.
    /// - Throws: the error of `intent`'s check; `AcceptError.badID`; the errors of ``perform(for:_:)``. In each case nothing was
    ///   accepted.
    @discardableResult
    public func accept(_ intent: some Intent, for jid: JID? = nil, id: String? = nil) throws -> String {
        let id = try OutgoingID(id).text
        try intent.check()
        try StepRunner.checkOutside(directory.databasePath)
        importMailbox()
        try perform(for: jid) { _ = try Intents(step: $0).perform(intent, id: id) }
        if !type(of: intent).isIdempotent { try context?.runner.raiseBarrier() }
        return id
    }
}
