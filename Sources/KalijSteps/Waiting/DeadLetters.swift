import KalijHandlers
import KalijStore

/// Keeps handlers that could not be called, for `kalij status`, and tells the owning feature.
package struct DeadLetters {
    package let step: Step

    package init(step: Step) { self.step = step }

    /// The largest number of letters of an account.
    private static let limit: Int64 = 1000

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
            [.integer(step.account.id), .integer(id), .integer(Self.limit)])
        let letter = DeadLetter(
            id: id, account: step.account.jid.description, at: step.now, origin: origin, name: name, reason: reason,
            handler: bytes)
        step.emit(DeadLettered(letter))
        try step.features.owner(of: name)?.lost(letter, in: step)
    }
}
