import KalijHandlers
import KalijStore

/// A handler that could not be called: its type is gone, its values are damaged or of a newer version, or it failed.
public struct DeadLetter: Sendable {
    /// What it waited for.
    public enum Origin: String, Sendable {
        /// The answer to a request.
        case request
        /// A time.
        case timer
        /// A promise.
        case promise
        /// It is no handler, but something that another process left in the mailbox.
        case share
        /// It is no handler, but a stanza that the server does not take.
        case queue
    }

    /// The row.
    public let id: Int64
    /// The account's bare address.
    public let account: String
    /// When it should have been called, in milliseconds since 1970.
    public let at: Int64
    /// What it waited for.
    public let origin: Origin
    /// The handler's name; empty if not even that can be read.
    public let name: String
    /// Why it could not be called, in words.
    public let reason: String
    /// The handler as it was stored, damaged perhaps: `StoredHandler(bytes:)` reads the values that it had bound.
    public let handler: [UInt8]
}

/// Keeps what could not be called, for `kalij status`, and tells the feature that owns it.
struct DeadLetters {
    let step: Step

    /// The newest ones of an account that are kept.
    private static let limit: Int64 = 1000

    func bury(
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
        step.emit(.deadLetter(letter))
        try step.features.owner(of: name)?.lost(letter, in: step)
    }
}
