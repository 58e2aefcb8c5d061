import KalijSteps
import KalijStore

/// Messages that the account's server has taken, and that the room does not show.
struct UnshownMessages {
    let step: Step
    let room: RoomRow

    /// How often such a message leaves: then nobody knows what became of it.
    static let pace = RequestPace(10, atOnceThen: .seconds(86_400), upTo: .seconds(86_400))
    private static let name = "rooms.said"

    /// The messages that wait for longer than a room needs.
    func overdue() throws -> [Int64] {
        let latest = step.steady.now - RoomOutbox.patience.milliseconds
        return try step.database.statement(
            "SELECT message FROM room_message WHERE account = ? AND room = ? AND state = ? AND acked_at <= ?"
        ).all([
            .integer(step.account.id), .text(room.jid.description), .integer(RoomOutbox.State.acked.rawValue),
            .integer(latest),
        ]) { $0.integer() }
    }

    /// The messages have left, and did not come back.
    func note(_ messages: [Int64]) throws {
        for message in messages { try Pacing(step: step).take(Self.name, "\(message)", Self.pace) }
    }

    /// Whether the message has left often enough.
    func isGivenUp(_ message: Int64) throws -> Bool {
        try Pacing(step: step).wait(Self.name, "\(message)", Self.pace) > 0
    }
}
