import KalijAddress
import KalijFeatures
import KalijCore
import KalijStore

extension HistoryReader {
    /// The oldest `limit` messages with an id above `id`, in the order of their ids: the order in which the messages were stored.
    ///
    /// An application can store the id of the last message as its position: each message is returned once after that position,
    /// from any source and of any age, because an id is never reused, not even after a removal or a power failure. An application
    /// that stores the position in the transaction with its own work neither misses nor repeats a message, whichever process
    /// dies.
    ///
    /// Messages that are pending in the mailbox are returned once the driver has imported them. Later changes of a message, such
    /// as a correction, are reported by events (``EventLog``). That includes a correction of a message that is not stored, if the
    /// correction becomes a message of the conversation later.
    ///
    /// ```swift
    /// let reader = try HistoryReader(directory)
    /// for message in try reader.messages(after: place, of: account, with: nil, limit: 100) { place = message.id }
    /// ```
    /// - Parameters:
    ///   - id: ``Message/id`` of the last message that the application has processed; 0 for all messages.
    ///   - account: the account.
    ///   - conversation: only messages with this address; nil for all.
    ///   - limit: the maximum number of messages.
    /// - Returns: the messages with their current state; empty if there are no others.
    /// - Throws: `HistoryError.unknownID` if no message can have had that id; `StoreError`.
    public func messages(
        after id: Int64, of account: Account, with conversation: JID? = nil, limit: Int = 500
    ) throws -> [Message] {
        // A single read transaction, so that all rows are from one snapshot.
        try database.reading {
            // An earlier version kept no ids.
            guard try Schema.accounts.has("messages/5", in: database) else { throw HistoryError.olderVersion }
            let last = try MessageFeed.last(in: database)
            // A power failure may have undone the storing of messages that were read; the next driver skips this many ids.
            guard id <= last + MessageFeed.leftOut else { throw HistoryError.unknownID(id, last: last) }
            let rooms = RoomRows(database: database, account: account.id)
            return try views(
                MessageFeed(database: database, account: account.id)
                    .page(max(0, limit), with: conversation.map { try rooms.conversation(with: $0) }, after: id),
                of: account)
        }
    }
}

/// Why messages after an id cannot be read.
public enum HistoryError: Error, Equatable, CustomStringConvertible, Sendable {
    /// No message has had that id: the id is another directory's, or the database was restored to an earlier state.
    case unknownID(Int64, last: Int64)
    /// The database is of an earlier version, which reused ids. The next driver migrates it.
    case olderVersion

    public var description: String {
        switch self {
        case .unknownID(let id, let last):
            "no message has had the id \(id), the last one is \(last): the id is of another directory, or the database was put "
                + "back to an earlier state"
        case .olderVersion:
            "the database is of an earlier version, which gave ids twice; the next process that goes online brings it up to date"
        }
    }
}
