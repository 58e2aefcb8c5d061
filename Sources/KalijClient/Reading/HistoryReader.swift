import KalijAddress
import KalijStore

/// Reads stored messages; never waits for a running process.
public struct HistoryReader {
    private let database: Database

    public init(_ database: Database) { self.database = database }

    /// The newest `limit` messages with a body, oldest first: in the order of the archive where it is known, else in
    /// that of their arrival.
    /// - Parameter conversation: only those with this address; nil for all.
    public func messages(of account: Account, with conversation: JID?, limit: Int) throws -> [Message] {
        let filter = conversation == nil ? "" : "AND conversation = ?3"
        var values: [Value] = [.integer(account.id), .integer(Int64(limit))]
        if let conversation { values.append(.text(conversation.bare.description)) }
        return try database.prepare(
            """
            SELECT \(Message.columns) FROM (SELECT * FROM message WHERE account = ?1 AND body IS NOT NULL \(filter)
                ORDER BY position DESC LIMIT ?2) ORDER BY position
            """
        ).all(values) { Message($0) }
    }
}
