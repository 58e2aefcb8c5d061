import KalijAddress
import KalijFeatures

extension Conversations {
    /// The text of the draft for `jid`, as the entries of the mailbox leave it; empty if there is none, or if a message or a file
    /// that was accepted ends it.
    /// - Parameter directory: the directory whose mailbox is read.
    /// - Throws: `StoreError`
    public func draft(for jid: JID, mailbox directory: AccountDirectory) throws -> String {
        // The mailbox is read before the database: an entry imported in between then appears in both, and never in neither.
        let mailbox = try MailboxReader(directory.path)
        return try database.reading {
            let name = try name(jid)
            return try mailbox.draft(for: name, of: account, besides: database)
                ?? Draft.load(for: name, of: account.id, in: database)?.body ?? ""
        }
    }
}
