import KalijCore
import KalijStore

/// A stored operation.
struct OperationRow {
    /// The row of the operation's own message.
    let message: Int64
    let operation: MessageOperation
    /// The bare address of the author; in a room ``RoomAuthor/text``, or ``nobody``.
    let author: String
    /// An author in a room without proof.
    static let nobody = ""
    let conversation: String
    /// The row of the changed message; nil while the operation has no target.
    let target: Int64?

    init(_ row: Row) {
        message = row.integer("message")
        operation = MessageOperation(
            MessageOperation.Kind(rawValue: row.text("kind")) ?? .reaction, of: row.text("reference"),
            content: row.optionalText("content"))
        author = row.text("author")
        conversation = row.text("conversation")
        target = row.optionalInteger("target")
    }
}

extension SparseTable {
    fileprivate static let operation = SparseTable(anyRow: "SELECT 1 FROM operation LIMIT 1")
}

/// The stored operations.
struct OperationRows {
    let database: Database

    func insert(_ operation: MessageOperation, of message: Message, in account: Account, author: String) throws {
        try database.run(
            """
            INSERT INTO operation(message, account, conversation, kind, author, reference, content)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .integer(message.id), .integer(account.id), .text(message.conversation), .state(operation.kind),
                .text(author), .text(operation.reference), .optional(operation.content),
            ], into: .operation)
    }

    /// The operation of the message in row `message`; nil if it is not an operation.
    func row(_ message: Int64) throws -> OperationRow? {
        if try database.isKnownEmpty(.operation) { return nil }
        return try database.statement(
            """
            SELECT message, kind, author, conversation, reference, content, target FROM operation WHERE message = ?
            """
        ).first([.integer(message)]) { OperationRow($0) }
    }

    /// The operations on the message in row `target`.
    func rows(on target: Int64) throws -> [OperationRow] {
        try database.statement(
            """
            SELECT message, kind, author, conversation, reference, content, target FROM operation WHERE target = ?
            """
        ).all([.integer(target)]) { OperationRow($0) }
    }

    /// Whether there are certainly no operations at all.
    var isKnownEmpty: Bool { get throws { try database.isKnownEmpty(.operation) } }

    /// The operations in `conversation` that refer to `reference`.
    func rows(naming reference: String, in conversation: String, of account: Account) throws -> [OperationRow] {
        if try database.isKnownEmpty(.operation) { return [] }
        return try database.statement(
            """
            SELECT message, kind, author, conversation, reference, content, target FROM operation
            WHERE account = ? AND conversation = ? AND reference = ?
            """
        ).all([.integer(account.id), .text(conversation), .text(reference)]) { OperationRow($0) }
    }

    /// The operations of `author` without a target, the newest first.
    func waiting(
        by author: String, in conversation: String, of account: Account
    ) throws -> [(message: Int64, encryption: MessageEncryption?)] {
        try database.statement(
            """
            SELECT o.message, m.encryption FROM operation o CROSS JOIN message m ON m.id = o.message
            WHERE o.account = ? AND o.conversation = ? AND o.author = ? AND o.target IS NULL
            ORDER BY o.message DESC LIMIT 1000
            """
        ).all([.integer(account.id), .text(conversation), .text(author)]) {
            ($0.integer("message"), $0.optionalText("encryption").map(MessageEncryption.init(stored:)))
        }
    }

    func set(target: Int64?, of message: Int64) throws {
        try database.run(
            "UPDATE operation SET target = ? WHERE message = ?", [.optional(target), .integer(message)])
    }

    func remove(_ message: Int64) throws {
        try database.run("DELETE FROM operation WHERE message = ?", [.integer(message)])
    }

    /// Erases the texts of the corrections of the message in row `target`.
    func eraseTexts(on target: Int64) throws {
        try database.run(
            "UPDATE operation SET content = NULL WHERE target = ? AND kind = ?",
            [.integer(target), .state(MessageOperation.Kind.correction)])
    }

    /// Erases the text of the correction in the message `message`.
    func eraseText(of message: Int64) throws {
        try database.run("UPDATE operation SET content = NULL WHERE message = ?", [.integer(message)])
    }

    // MARK: The original text of a changed message

    func original(of message: Int64) throws -> String? {
        try database.statement("SELECT body FROM original WHERE message = ?")
            .first([.integer(message)]) { $0.text("body") }
    }

    func keep(original body: String, of message: Int64) throws {
        try database.run(
            "INSERT OR IGNORE INTO original(message, body) VALUES (?, ?)", [.integer(message), .text(body)])
    }

    func forgetOriginal(of message: Int64) throws {
        try database.run("DELETE FROM original WHERE message = ?", [.integer(message)])
    }
}
