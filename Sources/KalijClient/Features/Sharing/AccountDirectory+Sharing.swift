import KalijAddress
import KalijRoles
import KalijStore

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
        let shelf = try ParcelShelf(directory: path)
        let parcel = try ringing {
            try shelf.add(
                SharedMessage.name, try SharedMessage(text).payload, from: account.jid.description, now: clock.now())
        }
        return text.message(of: account, row: -parcel.id, sentAt: parcel.at)
    }
}

/// What processes have left in the mailbox for whoever drives, as it is to be read: never waits for anybody.
struct SharedReader {
    private let parcels: [Parcel]
    private let mailbox: String

    /// Reads the mailbox of `directory`. To be made before the database is read: what is taken over meanwhile is in both then,
    /// and not in neither.
    init(_ directory: AccountDirectory) throws {
        let shelf = try ParcelShelf(reading: directory.path)
        mailbox = try shelf?.name() ?? ""
        parcels = try shelf?.parcels(after: 0) ?? []
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
