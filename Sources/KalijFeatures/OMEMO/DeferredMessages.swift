import KalijHandlers
import KalijCore
import KalijStore
import KalijXML

/// Encrypted messages that are decrypted later, in their order: once the archive was read, or after a delay.
struct DeferredMessages {
    let step: Step
    private var account: Value { .integer(step.account.id) }

    /// The number of messages that are decrypted in a step; and the maximum number stored.
    private static let (batchSize, maxCount): (Int64, Int64) = (20, 10_000)
    /// The maximum number of stored messages of strangers, separate from the limit of the others.
    private static let maxOfStrangers: Int64 = 1000

    /// - Parameter time: when to decrypt it, in the steady time; nil: after the archive was read.
    /// - Returns: false if too many messages are deferred: then the message is not stored.
    func put(_ message: IncomingMessage, until time: Int64?) throws -> Bool {
        let most = time == nil ? Self.maxCount : Self.maxOfStrangers
        let count = try step.database.statement(
            "SELECT count(*) FROM (SELECT 1 FROM omemo_aside WHERE account = ? AND due BETWEEN ? AND ? LIMIT ?)"
        ).first([
            account, .integer(time == nil ? 0 : 1), .integer(time == nil ? 0 : .max), .integer(most),
        ]) { $0.integer() }
        guard count ?? 0 < most else { return false }
        try step.database.run(
            "INSERT INTO omemo_aside(account, stanza, source, position, due) VALUES (?, ?, ?, ?, ?)",
            [
                account, .blob(message.element.bytes()), .text(message.source == .carbon ? "carbon" : "live"),
                .integer(try step.nextPosition()), .integer(time ?? 0),
            ])
        if let time { try step.schedule(DeferredMessageTimer(), after: .milliseconds(time - step.steady.now)) }
        return true
    }

    /// Decrypts the messages that are due.
    func read() throws {
        let due = try step.database.statement(
            "SELECT id, stanza, source, position, due FROM omemo_aside WHERE account = ? AND due <= ? ORDER BY due, id LIMIT ?"
        ).all([account, .integer(step.steady.now), .integer(Self.batchSize)]) {
            (
                id: $0.integer("id"), stanza: $0.blob("stanza"), isCopy: $0.text("source") == "carbon",
                // A message that the archive has not returned is ordered after all that it has returned.
                position: $0.integer("due") == 0 ? nil : $0.integer("position")
            )
        }
        for row in due {
            try step.database.run("DELETE FROM omemo_aside WHERE id = ?", [.integer(row.id)])
            let message = try Element.parse(row.stanza)
            try IncomingPipeline(step: step).deliver(message, row.isCopy ? .carbon : .live, at: row.position)
        }
        if due.count == Int(Self.batchSize) { try step.schedule(DeferredMessageTimer(), after: .zero) }
    }

    /// Whether messages wait for the archive to be read.
    static func isAny(of account: Account, in database: Database) throws -> Bool {
        try database.statement("SELECT 1 FROM omemo_aside WHERE account = ? AND due = 0 LIMIT 1")
            .first([.integer(account.id)]) { _ in true } ?? false
    }
}

/// Decrypts deferred messages.
struct DeferredMessageTimer: Handler {
    static let name = "omemo.aside"

    func call(_: Void, in step: Step) throws {
        try DeferredMessages(step: step).read()
        step.flush()
    }
}
