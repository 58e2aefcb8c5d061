import KalijStore

/// A reference to a stored message: in JSON a number or a string.
public enum MessageReference: Codable, Sendable, Equatable {
    /// The row of the message (`Message.id`).
    case row(Int64)
    /// The sender's id of the message: its origin-id, or the id of the stanza. If several messages match, the newest is used.
    case id(String)

    /// Parses a word of a command line: a number is a row.
    public init(_ word: String) { self = Int64(word).map { .row($0) } ?? .id(word) }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self =
            if let row = try? container.decode(Int64.self) { .row(row) } else { .id(try container.decode(String.self)) }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .row(let row): try container.encode(row)
        case .id(let id): try container.encode(id)
        }
    }

    /// The referenced message.
    /// - Throws: `IntentFailure` if there is no such message.
    package func found(in step: Step) throws -> Message {
        guard let message = try found(by: step.account, in: step.database) else {
            throw IntentFailure("there is no such message")
        }
        return message
    }

    /// The referenced message; nil if there is none.
    package func found(by account: Account, in database: Database) throws -> Message? {
        let messages = MessageReader(database: database, account: account.id)
        switch self {
        case .row(let row): return try messages.message(row)
        case .id(let id): return try messages.named(id)
        }
    }

    /// The referenced message, as the subject of a reply.
    /// - Throws: `AcceptError.unanswerable`, `StoreError`
    package func answered(by account: Account, in database: Database) throws -> AnsweredMessage {
        guard let message = try found(by: account, in: database) else { throw AcceptError.unanswerable }
        return try AnsweredMessage(message)
    }
}
