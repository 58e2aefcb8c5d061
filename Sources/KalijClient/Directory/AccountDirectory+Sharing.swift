import KalijSteps
import KalijFeatures
import KalijAddress
import KalijHandlers
import KalijRoles
import KalijStore
import KalijText

import Glibc

extension AccountDirectory {
    /// Accepts a message in a process that only wants to send, such as a share extension. The message is on the disk
    /// once this function returns, and is sent by the driver, or else by the next driver. This function waits neither
    /// for the driver nor for a process that is frozen within a transaction.
    /// - Parameters:
    ///   - recipient: the receiver.
    ///   - sender: the account; nil is the only account.
    ///   - body: the text.
    ///   - id: the id of the message, its origin-id (XEP-0359); nil for a new id. A message accepted before under this
    ///     id is not sent again: a process that was killed during the call repeats the call with the same id.
    ///   - answered: the message that the text answers (XEP-0461); nil if there is none.
    ///   - privacy: whether the text is encrypted. What is written in an encrypted conversation stays encrypted, whatever becomes of
    ///     the conversation before the message is taken over.
    ///   - endsDraft: whether the text was the conversation's draft. There is none any more once the message is taken over.
    ///   - clock: the source of time.
    /// - Returns: the message in the state `queued`. Until it is taken over, its id is the mailbox's. If a message with
    ///   this `id` was taken over before, that message unchanged.
    /// - Throws: `AcceptError` for a text that cannot be sent; `DirectoryError` if the account is missing or ambiguous;
    ///   `StoreError`. Then nothing was accepted.
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
        // A message that still waits in the mailbox is recognized when it is taken over.
        if id != nil, let known = try Message.accepted(text.id, by: account, in: database) { return known }
        let parcel = try leave(SharedMessage(text).payload, named: SharedMessage.name, for: account, clock)
        let isForRoom = try RoomRows(database: database, account: account.id).isRoom(recipient) && recipient.isBare
        return text.message(of: account, row: -parcel.id, isForRoom: isForRoom, sentAt: parcel.at)
    }

    /// Accepts an intent in a process that need not drive. The intent is on the disk once this function returns, and is performed
    /// by the driver, or else by the next driver.
    /// - Parameters:
    ///   - intent: the wanted change.
    ///   - jid: the account; nil is the only account.
    ///   - id: the id of the intent; nil for a new id. An intent accepted before under this id is not performed again.
    ///   - clock: the source of time.
    /// - Returns: the id of the intent, for ``HistoryReader/outcome(of:by:)``.
    /// - Throws: the error of `intent`'s check; `AcceptError.badID`; `DirectoryError` if the account is missing or ambiguous;
    ///   `StoreError`. Then nothing was accepted.
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

    /// Leaves a parcel in the mailbox.
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
                // Nobody reads a mailbox that was set aside meanwhile, so the parcel is added again. If the parcel
                // was recovered there after all, the id shows that both are the same.
                if store.isInPlace { return parcel }
            } catch let error as StoreError where error.isDamage(ofMailboxIn: path) {
                guard attempts < Self.mostAttempts else { throw error }
            }
            attempts += 1
            try setMailboxAside(clock)
        }
    }

    /// How often a damaged mailbox is tried again, each time after a tenth of a second: the driver may need time.
    private static let mostAttempts = 60

    /// Sets a damaged mailbox aside, or lets the driver do so: only the holder of the fence may.
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
                    ).note(damage)
                }
            }
        } catch FenceError.held {
            reportDamage()
            // The driver sets the mailbox aside, and tells nobody: the caller tries again.
            usleep(100_000)
        }
    }
}

extension MailboxDamage {
    /// For people.
    var words: String {
        let lost =
            switch lost {
            case nil: "how many messages were left in it cannot be told"
            case 0?: "no message in it is lost"
            case let number?: "\(number) could not be read, and \(number == 1 ? "is" : "are") lost"
            }
        return "the mailbox was damaged (\(reason)) and is now \(path); \(recovered) messages were recovered, \(lost)"
    }
}

extension Step {
    /// Notes for `kalij status` that the mailbox was damaged.
    func note(_ damage: MailboxDamage) throws {
        try DeadLetters(step: self).bury([], named: "mailbox", because: damage.words, from: .share)
    }
}

/// The messages left in the mailbox for the driver; never waits for a process.
struct MailboxReader {
    private let parcels: [QueuedItem]
    private let mailbox: String
    /// Why the mailbox cannot be read; nil if it can.
    let damage: String?

    /// Reads the mailbox of `directory`. Call this before the database is read: then messages taken over meanwhile are
    /// in both, and not in neither.
    ///
    /// A damaged mailbox counts as empty: the next driver sets it aside, and reports the damage.
    init(_ directory: AccountDirectory) throws {
        do {
            let store = try MailboxQueue(reading: directory.path)
            (mailbox, parcels, damage) = (try store?.name() ?? "", try store?.parcels(after: 0) ?? [], nil)
        } catch let error as StoreError where error.isDamage(ofMailboxIn: directory.path) {
            (mailbox, parcels, damage) = ("", [], error.message)
        }
    }

    /// The files of `account` that were not taken over when `database` was read, oldest first.
    func files(of account: Account, besides database: Database) throws -> [(id: String, file: SendFile, at: Int64)] {
        let place = try MailboxImporter.place(in: database)
        let last = place?.mailbox == mailbox ? place?.last ?? 0 : 0
        return parcels.compactMap { parcel in
            guard parcel.id > last, parcel.sender.exact == account.jid.description.exact,
                parcel.name == SendFile.name,
                let value = StoredValue(canonical: parcel.payload),
                let shared = try? value.decoded(as: SharedIntent<SendFile>.self)
            else { return nil }
            return (shared.id, shared.intent, parcel.at)
        }
    }

    /// Whether a parcel has the file `name`.
    func hasFile(_ name: String) -> Bool {
        parcels.contains { parcel in
            guard parcel.name == SendFile.name, let value = StoredValue(canonical: parcel.payload) else { return false }
            return (try? value.decoded(as: SharedIntent<SendFile>.self))?.intent.file == name
        }
    }

    /// The messages of `account` that were not taken over when `database` was read, oldest first.
    func messages(of account: Account, besides database: Database) throws -> [Message] {
        let place = try MailboxImporter.place(in: database)
        let last = place?.mailbox == mailbox ? place?.last ?? 0 : 0
        var ids: Set<ExactText> = []
        let rooms = Set(try RoomRows(database: database, account: account.id).all().map(\.jid))
        return parcels.compactMap { parcel in
            guard parcel.id > last, parcel.sender.exact == account.jid.description.exact,
                let text = try? SharedMessage(parcel).text,
                // A message accepted twice under one id is sent once.
                ids.insert(text.id.exact).inserted
            else { return nil }
            return text.message(
                of: account, row: -parcel.id, isForRoom: rooms.contains(text.recipient), sentAt: parcel.at)
        }
    }
}
