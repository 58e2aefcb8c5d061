import KalijAddress
import KalijCoordination
import KalijCore
import KalijHandlers
import KalijStore
import KalijText

/// The messages that are pending in the mailbox; never waits for a process.
package struct MailboxReader {
    private let parcels: [QueuedItem]
    private let mailbox: String
    /// Why the mailbox cannot be read; nil if it is readable.
    package let damage: String?

    /// Reads the mailbox of the accounts' directory at the path `directory`. Call this before reading the database: a message imported in between then appears in
    /// both, and never in neither.
    ///
    /// A damaged mailbox counts as empty; the next driver sets it aside and reports the damage.
    package init(_ directory: String) throws {
        do {
            let store = try MailboxQueue(reading: directory)
            (mailbox, parcels, damage) = (try store?.name() ?? "", try store?.parcels(after: 0) ?? [], nil)
        } catch let error as StoreError where error.isDamage(ofMailboxIn: directory) {
            (mailbox, parcels, damage) = ("", [], error.message)
        }
    }

    /// The entries of `account` that were not imported when `database` was read, oldest first.
    private func pending(of account: Account, besides database: Database) throws -> [QueuedItem] {
        let place = try MailboxImporter.place(in: database)
        let last = place?.mailbox == mailbox ? place?.last ?? 0 : 0
        return parcels.filter { $0.id > last && $0.sender.exact == account.jid.description.exact }
    }

    /// The files of `account` that were not imported when `database` was read, oldest first.
    package func files(of account: Account, besides database: Database) throws -> [(
        id: String, file: SendFile, at: Int64
    )] {
        try pending(of: account, besides: database).compactMap { parcel in
            guard parcel.name == SendFile.name,
                let value = StoredValue(canonical: parcel.payload),
                let shared = try? value.decoded(as: SharedIntent<SendFile>.self)
            else { return nil }
            return (shared.id, shared.intent, parcel.at)
        }
    }

    /// The draft for `conversation` as the entries that `database` has not imported leave it: nil if they do not change it, empty if a
    /// message or a file ends it.
    package func draft(for conversation: String, of account: Account, besides database: Database) throws -> Draft? {
        let rooms = RoomRows(database: database, account: account.id)
        var draft: Draft?
        for parcel in try pending(of: account, besides: database) {
            guard let change = Self.draftChange(in: parcel),
                try rooms.conversation(with: change.recipient).exact == conversation.exact
            else { continue }
            let answered = try change.reply?.found(by: account, in: database)
            draft = Draft(body: change.body, at: parcel.at, answered: answered?.id)
        }
        return draft
    }

    /// The draft that `parcel` sets or ends, with its recipient.
    private static func draftChange(
        in parcel: QueuedItem
    ) -> (recipient: JID, body: String, reply: MessageReference?)? {
        if let text = try? SharedMessage(parcel).text { return text.endsDraft ? (text.recipient, "", nil) : nil }
        guard let value = StoredValue(canonical: parcel.payload) else { return nil }
        switch parcel.name {
        case SetDraft.name:
            let intent = try? value.decoded(as: SharedIntent<SetDraft>.self).intent
            return intent.flatMap { intent in (try? JID(intent.conversation)).map { ($0, intent.body, intent.reply) } }
        case SendFile.name:
            let intent = try? value.decoded(as: SharedIntent<SendFile>.self).intent
            guard let intent, intent.endsDraft ?? false else { return nil }
            return (try? JID(intent.to)).map { ($0, "", nil) }
        default: return nil
        }
    }

    /// The unfinished correction in `conversation` as the entries that `database` has not imported leave it.
    package func correction(
        for conversation: String, of account: Account, besides database: Database
    ) throws -> CorrectionDraft? {
        var draft = try CorrectionDraft.load(for: conversation, of: account, in: database)
        for parcel in try pending(of: account, besides: database) {
            guard let change = Self.correctionChange(in: parcel),
                let row = try change.message.found(by: account, in: database)?.id,
                try CorrectionDraft.isValid(row, in: conversation, of: account, in: database)
            else { continue }
            if !change.body.isEmpty {
                draft = CorrectionDraft(message: row, body: change.body)
            } else if draft?.message == row {
                draft = nil
            }
        }
        return draft
    }

    /// The unfinished correction that `parcel` sets, or ends.
    private static func correctionChange(in parcel: QueuedItem) -> (message: MessageReference, body: String)? {
        guard let value = StoredValue(canonical: parcel.payload) else { return nil }
        switch parcel.name {
        case SetCorrectionDraft.name:
            return (try? value.decoded(as: SharedIntent<SetCorrectionDraft>.self).intent).map { ($0.message, $0.body) }
        case Correct.name:
            return (try? value.decoded(as: SharedIntent<Correct>.self).intent).map { ($0.message, "") }
        default: return nil
        }
    }

    /// Whether an entry refers to the file `name`.
    package func hasFile(_ name: String) -> Bool {
        parcels.contains { parcel in
            guard parcel.name == SendFile.name, let value = StoredValue(canonical: parcel.payload) else { return false }
            return (try? value.decoded(as: SharedIntent<SendFile>.self))?.intent.file == name
        }
    }

    /// The messages of `account` that were not imported when `database` was read, oldest first.
    package func messages(of account: Account, besides database: Database) throws -> [Message] {
        var ids: Set<ExactText> = []
        let rooms = Set(try RoomRows(database: database, account: account.id).all().map(\.jid))
        return try pending(of: account, besides: database).compactMap { parcel in
            guard let text = try? SharedMessage(parcel).text,
                // A message accepted twice under one id is sent once.
                ids.insert(text.id.exact).inserted
            else { return nil }
            return text.message(
                of: account, row: -parcel.id, isForRoom: rooms.contains(text.recipient), sentAt: parcel.at)
        }
    }
}
