import KalijAddress
import KalijFeatures

/// The texts of the user's in a conversation that are not sent.
public struct UnsentTexts: Sendable, Equatable {
    /// The draft; nil if there is none, or if a message or a file that was accepted ends it.
    public let draft: Draft?
    /// The correction in progress; nil if there is none, or if it was accepted.
    public let correction: CorrectionDraft?
}

extension Conversations {
    /// The texts in the conversation with `jid` that are not sent, as the entries of the mailbox leave them.
    /// - Parameters:
    ///   - jid: the address of the peer.
    ///   - directory: the directory whose mailbox is read.
    /// - Throws: `StoreError`
    public func unsentTexts(for jid: JID, mailbox directory: AccountDirectory) throws -> UnsentTexts {
        // The mailbox is read before the database: an entry imported in between then appears in both, and never in neither.
        let mailbox = try MailboxReader(directory.path)
        return try database.reading {
            let name = try name(jid)
            let draft =
                try mailbox.draft(for: name, of: account, besides: database)
                ?? Draft.load(for: name, of: account.id, in: database)
            return UnsentTexts(
                draft: draft.flatMap { $0.body.isEmpty ? nil : $0 },
                correction: try mailbox.correction(for: name, of: account, besides: database))
        }
    }
}
