import KalijHandlers
import KalijSteps
import KalijStore
import KalijXML

/// Encrypted messages that are read later, in their places: once the archive was read, or after a time.
struct DeferredMessages {
    let step: Step
    private var account: Value { .integer(step.account.id) }

    /// How many are read in a step; and how many are kept at most.
    private static let (portion, most): (Int64, Int64) = (20, 10_000)
    /// How many messages of strangers are kept at most: they take no room from the others.
    private static let mostOfStrangers: Int64 = 1000

    /// - Parameter time: in the steady time; nil: when the archive was read.
    /// - Returns: false if too many wait: then the message is not kept for later.
    func put(_ message: IncomingMessage, until time: Int64?) throws -> Bool {
        let most = time == nil ? Self.most : Self.mostOfStrangers
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

    /// Reads what is due.
    func read() throws {
        let due = try step.database.statement(
            "SELECT id, stanza, source, position, due FROM omemo_aside WHERE account = ? AND due <= ? ORDER BY due, id LIMIT ?"
        ).all([account, .integer(step.steady.now), .integer(Self.portion)]) {
            (
                id: $0.integer("id"), stanza: $0.blob("stanza"), isCopy: $0.text("source") == "carbon",
                // What the archive has not shown comes after everything that it has shown.
                position: $0.integer("due") == 0 ? nil : $0.integer("position")
            )
        }
        for row in due {
            try step.database.run("DELETE FROM omemo_aside WHERE id = ?", [.integer(row.id)])
            let message = try Element.parse(row.stanza)
            try IncomingPipeline(step: step).deliver(message, row.isCopy ? .carbon : .live, at: row.position)
        }
        if due.count == Int(Self.portion) { try step.schedule(DeferredMessageTimer(), after: .zero) }
    }

    /// Whether messages wait for the end of the reading.
    static func isAny(of account: Account, in database: Database) throws -> Bool {
        try database.statement("SELECT 1 FROM omemo_aside WHERE account = ? AND due = 0 LIMIT 1")
            .first([.integer(account.id)]) { _ in true } ?? false
    }
}

/// The time to read messages that were put aside.
struct DeferredMessageTimer: Handler {
    static let name = "omemo.aside"

    func call(_: Void, in step: Step) throws {
        try DeferredMessages(step: step).read()
        step.flush()
    }
}
