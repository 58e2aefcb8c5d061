import KalijHandlers
import KalijStore

/// Keeps handlers that could not be called, for `kalij status`, and notifies the owning feature.
package struct DeadLetters {
    package let step: Step

    package init(step: Step) { self.step = step }

    package func bury(
        _ bytes: [UInt8], named known: String? = nil, because reason: String, from origin: DeadLetter.Origin
    ) throws {
        let name = known ?? (try? StoredHandler(bytes: bytes))?.name ?? ""
        try step.database.run(
            "INSERT INTO dead_letter(account, at, origin, name, reason, handler) VALUES (?, ?, ?, ?, ?, ?)",
            [
                .integer(step.account.id), .integer(step.now), .text(origin.rawValue), .text(name), .text(reason),
                .blob(bytes),
            ])
        let id = step.database.lastInsertedRow
        try step.database.run(
            "DELETE FROM dead_letter WHERE account = ?1 AND id <= ?2 - ?3",
            [.integer(step.account.id), .integer(id), .integer(EngineLimits.keptRows)])
        let letter = DeadLetter(
            id: id, account: step.account.jid.description, at: step.now, origin: origin, name: name, reason: reason,
            handler: bytes)
        step.emit(HandlerDeadLettered(letter))
        try step.features.owner(of: name)?.handlerDeadLettered(letter, in: step)
    }

    /// The newest ones of all accounts, newest first.
    package static func newest(in database: Database) throws -> [DeadLetter] {
        let addresses = try AccountTable(database).addresses()
        return try database.prepare(
            "SELECT id, account, at, origin, name, reason, handler FROM dead_letter ORDER BY id DESC LIMIT 100"
        ).all { row in
            DeadLetter(
                id: row.integer("id"), account: addresses[row.integer("account")] ?? "", at: row.integer("at"),
                origin: DeadLetter.Origin(rawValue: row.text("origin")) ?? .request, name: row.text("name"),
                reason: row.text("reason"), handler: row.blob("handler"))
        }
    }
}
