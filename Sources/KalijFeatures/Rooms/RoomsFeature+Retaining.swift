import KalijAddress
import KalijCore
import KalijStore

/// A message to a room is retained until the account is in the room, and the outcome of earlier messages is known.
extension RoomsFeature: MessageRetainer {
    static func reason(toRetain message: Message, of account: Account, in database: Database) throws -> WaitReason? {
        guard message.type == "groupchat" else { return nil }
        let jid = try database.statement("SELECT room FROM room_message WHERE message = ? AND state = ?")
            .first([.integer(message.id), .integer(RoomOutbox.State.waiting.rawValue)]) { JID.received($0.text()) }
        guard let jid, let room = try RoomRows(database: database, account: account.id).room(jid) else { return nil }
        guard room.canSend else { return .room(room.reason) }
        return try isDoubtful(room.jid, account.id, in: database) ? .earlier : nil
    }

    /// Whether the outcome of a message to `room` is undetermined.
    private static func isDoubtful(_ room: JID, _ account: Int64, in database: Database) throws -> Bool {
        try database.statement("SELECT 1 FROM room_message WHERE account = ? AND room = ? AND state = ? LIMIT 1").first(
            [
                .integer(account), .text(room.description), .integer(RoomOutbox.State.doubtful.rawValue),
            ]) { _ in true } ?? false
    }
}
