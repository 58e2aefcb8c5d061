import KalijCore
import KalijStore

/// Messages that the account's server has acknowledged and the room does not reflect.
struct UnshownMessages {
    let step: Step
    let room: RoomRow

    /// Limits how often such a message is sent before its outcome is reported as unknown.
    static let pace = RequestPace(10, atOnceThen: .seconds(86_400), upTo: .seconds(86_400))
    private static let name = "rooms.said"

    /// The messages whose reflection is overdue.
    func overdue() throws -> [Int64] {
        let latest = step.steady.now - RoomOutbox.timeout.milliseconds
        return try step.database.statement(
            "SELECT message FROM room_message WHERE account = ? AND room = ? AND state = ? AND acked_at <= ?"
        ).all([
            .integer(step.account.id), .text(room.jid.description), .integer(RoomOutbox.State.acked.rawValue),
            .integer(latest),
        ]) { $0.integer() }
    }

    /// Counts an attempt for each message that was sent and not reflected.
    func record(_ messages: [Int64]) throws {
        for message in messages { try Pacing(step: step).acquire(Self.name, "\(message)", Self.pace) }
    }

    /// Whether the attempts for the message are exhausted.
    func isExhausted(_ message: Int64) throws -> Bool {
        try Pacing(step: step).wait(Self.name, "\(message)", Self.pace) > 0
    }
}
