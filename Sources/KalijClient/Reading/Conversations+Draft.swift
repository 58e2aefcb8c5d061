import KalijAddress
import KalijFeatures

extension Conversations {
    /// The draft for `jid`, as the entries of the mailbox leave it; nil if there is none, or if a message or a file
    /// that was accepted ends it.
    /// - Parameters:
    ///   - jid: the address of the peer.
    ///   - directory: the directory whose mailbox is read.
    /// - Throws: `StoreError`
    public func draft(for jid: JID, mailbox directory: AccountDirectory) throws -> Draft? {
        // The mailbox is read before the database: an entry imported in between then appears in both, and never in neither.
        let mailbox = try MailboxReader(directory.path)
        return try database.reading {
            let name = try name(jid)
            let draft =
                try mailbox.draft(for: name, of: account, besides: database)
                ?? Draft.load(for: name, of: account.id, in: database)
            return draft.flatMap { $0.body.isEmpty ? nil : $0 }
        }
    }

    /// The unfinished correction in the conversation with `jid`, as the entries of the mailbox leave it; nil if there is none.
    /// - Parameters:
    ///   - jid: the address of the peer.
    ///   - directory: the directory whose mailbox is read.
    /// - Throws: `StoreError`
    public func correctionDraft(for jid: JID, mailbox directory: AccountDirectory) throws -> CorrectionDraft? {
        let mailbox = try MailboxReader(directory.path)
        return try database.reading { try mailbox.correction(for: name(jid), of: account, besides: database) }
    }
}
