import KalijAddress
import KalijCore
import KalijStore

/// Limits the sessions that strangers begin: each consumes a prekey of this device.
struct StrangerSessionLimit {
    let step: Step

    /// The number of sessions that a domain may begin in an hour; and an hour in milliseconds.
    private static let (maxPerHour, hour): (Int64, Int64) = (20, 3_600_000)

    /// Counts a session begun by `stranger`.
    /// - Returns: when the message is to be decrypted, in the steady time; nil if now.
    func postponed(_ stranger: JID) throws -> Int64? {
        let now = step.steady.now
        let values: [Value] = [.integer(step.account.id), .text(stranger.domain)]
        let known = try step.database.statement(
            "SELECT since, number FROM omemo_stranger WHERE account = ? AND domain = ?"
        ).first(values) { (since: $0.integer("since"), number: $0.integer("number")) }
        guard let known, now >= known.since, now - known.since < Self.hour else {
            try step.database.run(
                "INSERT OR REPLACE INTO omemo_stranger(account, domain, since, number) VALUES (?, ?, ?, 1)",
                values + [.integer(now)])
            try step.database.run(
                "DELETE FROM omemo_stranger WHERE account = ? AND since < ?",
                [.integer(step.account.id), .integer(now - Self.hour)])
            return nil
        }
        guard known.number < Self.maxPerHour else { return known.since + Self.hour }
        try step.database.run(
            "UPDATE omemo_stranger SET number = number + 1 WHERE account = ? AND domain = ?", values)
        return nil
    }
}
