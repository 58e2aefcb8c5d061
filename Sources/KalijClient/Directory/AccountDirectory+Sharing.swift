import KalijSteps
import KalijFeatures
import KalijAddress
import KalijRoles
import KalijStore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension AccountDirectory {
    /// Accepts a message as a process that only wants to send, such as a share extension: it is on the disk once this returns,
    /// and is sent by the process that drives, or else by the next one that does. Neither a process that drives nor one that is
    /// frozen within a transaction is waited for.
    /// - Parameters:
    ///   - recipient: who gets it.
    ///   - sender: the account; nil is the only one.
    ///   - body: what it says.
    ///   - id: the id under which it is sent, its origin-id (XEP-0359); nil for one that is made here. What was accepted under it
    ///     before is not sent again: so who was killed before this returned calls it again with the same id.
    ///   - clock: where time comes from.
    /// - Returns: the message in the state `queued`. Its id is that of the mailbox until it is taken over. With an `id` that was
    ///   taken over before, the message as it is.
    /// - Throws: `AcceptError` for a text that cannot be sent; `DirectoryError` if there is no such account or it is not clear
    ///   which; `StoreError`. Then nothing was accepted.
    @discardableResult
    public func share(
        _ body: String, to recipient: JID, from sender: JID? = nil, id: String? = nil, clock: Clock = .system
    ) throws -> Message {
        let database = try read()
        let account = try AccountTable(database).account(sender, in: self)
        let text = try OutgoingText(body, to: recipient, id: id)
        // One that waits in the mailbox still is found by who takes it over.
        if id != nil, let known = try Message.accepted(text.id, by: account, in: database) { return known }
        let payload = try SharedMessage(text).payload
        var attempts = 0
        while true {
            do {
                let shelf = try ParcelShelf(directory: path)
                let parcel = try ringing {
                    try shelf.add(SharedMessage.name, payload, from: account.jid.description, now: clock.now())
                }
                // What is in one that was set aside meanwhile nobody may find. Found there after all, it is the same message.
                if shelf.isInPlace { return text.message(of: account, row: -parcel.id, sentAt: parcel.at) }
            } catch let error as StoreError where error.isDamage(ofMailboxIn: path) {
                guard attempts < Self.mostAttempts else { throw error }
            }
            attempts += 1
            try setMailboxAside(clock)
        }
    }

    /// How often a damaged mailbox is looked at again, a tenth of a second each: who drives may have to be waited for.
    private static let mostAttempts = 60

    /// Sets a damaged mailbox aside, or has the process that drives do it: only who holds the fence may.
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
            // The process that drives sets the mailbox aside, and tells nobody: the caller looks again.
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
    /// Notes, where `kalij status` lists it, that the mailbox was damaged.
    func note(_ damage: MailboxDamage) throws {
        try DeadLetters(step: self).bury([], named: "mailbox", because: damage.words, from: .share)
    }
}

/// What processes have left in the mailbox for whoever drives, as it is to be read: never waits for anybody.
struct SharedReader {
    private let parcels: [Parcel]
    private let mailbox: String
    /// Why nothing of it can be read; nil if it can.
    let damage: String?

    /// Reads the mailbox of `directory`. To be made before the database is read: what is taken over meanwhile is in both then,
    /// and not in neither.
    ///
    /// One that is damaged is as good as empty: whoever drives next sets it aside, and says so.
    init(_ directory: AccountDirectory) throws {
        do {
            let shelf = try ParcelShelf(reading: directory.path)
            (mailbox, parcels, damage) = (try shelf?.name() ?? "", try shelf?.parcels(after: 0) ?? [], nil)
        } catch let error as StoreError where error.isDamage(ofMailboxIn: directory.path) {
            (mailbox, parcels, damage) = ("", [], error.message)
        }
    }

    /// The messages of `account` that were not taken over when `database` was read, oldest first.
    func messages(of account: Account, besides database: Database) throws -> [Message] {
        let place = try Taking.place(in: database)
        let last = place?.mailbox == mailbox ? place?.last ?? 0 : 0
        var ids: Set<String> = []
        return parcels.compactMap { parcel in
            guard parcel.id > last, parcel.sender == account.jid.description,
                let text = try? SharedMessage(parcel).text,
                // Accepted twice under one id, it is sent once.
                ids.insert(text.id).inserted
            else { return nil }
            return text.message(of: account, row: -parcel.id, sentAt: parcel.at)
        }
    }
}
