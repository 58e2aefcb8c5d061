import KalijCore
import KalijFeatures
import KalijAddress
import KalijHandlers
import KalijCoordination
import KalijStore
import KalijText

import Glibc

extension AccountDirectory {
    /// Accepts a message in a process that only sends, such as a share extension. When this function returns, the message is on
    /// the disk; the current driver, or else the next one, sends it. This function waits neither for the driver nor for a process
    /// that is frozen within a transaction.
    /// - Parameters:
    ///   - recipient: the recipient.
    ///   - sender: the account; nil selects the only account.
    ///   - body: the text.
    ///   - id: the id of the message, its origin-id (XEP-0359); nil generates one. A message already accepted under this id is
    ///     not sent again: a process that was killed during the call repeats the call with the same id.
    ///   - answered: the message that the text answers (XEP-0461); nil if there is none.
    ///   - privacy: whether to encrypt the text. A text written in an encrypted conversation remains encrypted even if the
    ///     conversation changes before the message is imported from the mailbox.
    ///   - endsDraft: whether the text was the conversation's draft. The draft is removed when the message is imported.
    ///   - clock: the source of time.
    /// - Returns: the message in the state `queued`. Until the message is imported, its id refers to the mailbox. If a message
    ///   with this `id` was imported before, returns that message unchanged.
    /// - Throws: `AcceptError` for a text that cannot be sent; `DirectoryError` if the account is missing or ambiguous;
    ///   `StoreError`. In each case nothing was accepted.
    @discardableResult
    public func share(
        _ body: String, to recipient: JID, from sender: JID? = nil, id: String? = nil,
        answering answered: MessageReference? = nil, privacy: EncryptionPreference = .asConversation,
        endsDraft: Bool = false,
        clock: Clock = .system
    ) throws -> Message {
        let database = try read()
        let account = try AccountTable(database).account(sender, in: self)
        var text = try OutgoingText(
            body, to: recipient, id: id, answering: answered?.answered(by: account, in: database),
            privacy: EncryptionState.privacy(privacy, to: recipient, of: account, in: database))
        text.endsDraft = endsDraft
        // A duplicate that is still in the mailbox is detected on import.
        if id != nil, let known = try Message.accepted(text.id, by: account, in: database) { return known }
        let parcel = try leave(SharedMessage(text).payload, named: SharedMessage.name, for: account, clock)
        let isForRoom = try RoomRows(database: database, account: account.id).isRoom(recipient) && recipient.isBare
        return text.message(of: account, row: -parcel.id, isForRoom: isForRoom, sentAt: parcel.at)
    }

    /// Accepts an intent in a process that need not drive. When this function returns, the intent is on the disk; the current
    /// driver, or else the next one, performs it.
    /// - Parameters:
    ///   - intent: the change to perform.
    ///   - jid: the account; nil selects the only account.
    ///   - id: the id of the intent; nil generates one. An intent already accepted under this id is not performed again.
    ///   - clock: the source of time.
    /// - Returns: the id of the intent, for ``HistoryReader/outcome(of:by:)``.
    /// - Throws: the error of `intent`'s check; `AcceptError.badID`; `DirectoryError` if the account is missing or ambiguous;
    ///   `StoreError`. In each case nothing was accepted.
    @discardableResult
    public func share(
        _ intent: some Intent, for jid: JID? = nil, id: String? = nil, clock: Clock = .system
    ) throws -> String {
        let account = try AccountTable(try read()).account(jid, in: self)
        let id = try OutgoingID(id)
        try intent.check()
        _ = try leave(
            SharedIntent(intent, id: id.text).payload, named: type(of: intent).name, for: account, clock)
        return id.text
    }

    /// Enqueues an entry in the mailbox and signals the driver.
    private func leave(
        _ payload: [UInt8], named name: String, for account: Account, _ clock: Clock
    ) throws -> QueuedItem {
        var attempts = 0
        while true {
            do {
                let store = try MailboxQueue(directory: path)
                let parcel = try ringing {
                    try store.add(name, payload, from: account.jid.description, now: clock.now())
                }
                // No process reads a mailbox that was set aside in the meantime, so the entry is enqueued again. If the entry was
                // recovered from the damaged mailbox as well, its id identifies the duplicate.
                if store.isInPlace { return parcel }
            } catch let error as StoreError where error.isDamage(ofMailboxIn: path) {
                guard attempts < Self.maxAttempts else { throw error }
            }
            attempts += 1
            try setMailboxAside(clock)
        }
    }

    /// How often a damaged mailbox is retried, at intervals of 0.1 s: the driver may need time to replace it.
    private static let maxAttempts = 60

    /// Sets a damaged mailbox aside, or requests that from the driver: only the holder of the fence may do so.
    private func setMailboxAside(_ clock: Clock) throws {
        do {
            let driven = try drive(role: .share, now: clock.now())
            defer { if !driven.careful { try? driven.fence.letGo(driven.database) } }
            let mailbox = try mailbox(under: driven.fence, driven.database, clock)
            guard let damage = mailbox.damage else { return }
            for account in try AccountTable(driven.database).all() {
                let steady = try SteadyTime(reading: driven.database, clock) ?? SteadyTime(clock)
                try driven.database.transaction {
                    try driven.fence.check(driven.database)
                    try Step(
                        database: driven.database, account: account, now: clock.now(), steady: steady,
                        features: .passive
                    ).record(damage)
                }
            }
        } catch FenceError.held {
            reportDamage()
            // The driver sets the mailbox aside and sends no confirmation: the caller retries.
            usleep(100_000)
        }
    }
}
