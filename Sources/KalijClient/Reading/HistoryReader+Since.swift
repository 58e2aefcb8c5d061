import KalijAddress
import KalijFeatures
import KalijSteps
import KalijStore

extension HistoryReader {
    /// The oldest `limit` messages with an id above `id`, in the order of their ids: the order in which the messages were stored.
    ///
    /// The id of the last message is a place that an application can keep: each message comes once after the place, from whatever
    /// source and however old, because an id is never given twice, also after a removal or a power failure. An application that
    /// keeps the place in the transaction with its own work misses no message and does none twice, whichever process dies.
    ///
    /// Messages that wait in the mailbox come once the driver has taken them over. What becomes of a message afterwards, such as a
    /// correction, is told by events (``EventLog``). So is a correction of a message that is not known, if the correction turns
    /// into a line of the conversation later.
    ///
    /// ```swift
    /// let reader = try HistoryReader(directory)
    /// for message in try reader.messages(after: place, of: account, with: nil, limit: 100) { place = message.id }
    /// ```
    /// - Parameters:
    ///   - id: ``Message/id`` of the last message that the application has; 0 for all messages.
    ///   - account: the account.
    ///   - conversation: only messages with this address; nil for all.
    ///   - limit: the most messages.
    /// - Returns: the messages as they are now; empty if there are no others.
    /// - Throws: `HistoryError.unknownID` if no message can have had that id; `StoreError`.
    public func messages(
        after id: Int64, of account: Account, with conversation: JID? = nil, limit: Int = 500
    ) throws -> [Message] {
        // A single read transaction, so that all rows are of the same moment.
        try database.reading {
            // An earlier version kept no ids.
            guard try Schema.accounts.has("messages/5", in: database) else { throw HistoryError.olderVersion }
            let last = try MessageFeed.last(in: database)
            // A power failure may have undone messages that were read; the next driver leaves so many ids out.
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
    /// The database is of an earlier version, which gave ids twice. The next process that goes online brings it up to date.
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
