import KalijAddress
import KalijCore
import KalijStore

/// How far the members of a group have read. Can be read outside of a step.
package struct GroupReaders {
    let room: RoomRow
    let account: Account
    let database: Database
    /// The account and the conversation.
    var key: [Value] { [.integer(account.id), .text(room.jid.description)] }

    /// A larger group gets no markers: the room sends each marker to every occupant.
    static let maxMembers = 100

    /// Whether `room` is a group whose members are known and tell each other what they have read.
    static func areKnown(in room: RoomRow, _ database: Database) throws -> Bool {
        try room.info.isGroup && Members.count(of: room, in: database) <= maxMembers
    }

    /// - Returns: nil if `conversation` is not such a group.
    package init?(_ conversation: String, of account: Account, in database: Database) throws {
        guard let room = try RoomRows(database: database, account: account.id).room(.received(conversation)),
            try Self.areKnown(in: room, database)
        else { return nil }
        self.init(room: room, account: account, database: database)
    }

    init(room: RoomRow, account: Account, database: Database) {
        (self.room, self.account, self.database) = (room, account, database)
    }

    /// The members besides the user, in the order of their addresses, with the order number of the last message that each has displayed.
    func all() throws -> [(member: JID, position: Int64?)] {
        let messages = MessageReader(database: database, account: account.id)
        let places = try database.statement(
            "SELECT member, message, position FROM displayed_by_member WHERE account = ? AND conversation = ?"
        ).all(key) {
            ($0.text("member").exact, MessageReader.Place(row: $0.integer("message"), position: $0.integer("position")))
        }
        let known = try Dictionary(places) { $1 }.mapValues { try messages.place(of: $0.row) ?? $0 }
        return try Members.all(of: room, in: database).map(\.jid).filter { $0 != account.jid.bare }
            .map { ($0, known[$0.description.exact]?.position) }
    }

    /// The place of the last message that `member` has displayed. The message may have moved since, or no longer exist.
    func place(of member: JID) throws -> MessageReader.Place? {
        let stored = try database.statement(
            "SELECT message, position FROM displayed_by_member WHERE account = ? AND conversation = ? AND member = ?"
        ).first(key + [.text(member.description)]) {
            MessageReader.Place(row: $0.integer("message"), position: $0.integer("position"))
        }
        return try stored.map { try MessageReader(database: database, account: account.id).place(of: $0.row) ?? $0 }
    }

    /// The messages, with who has read those of the user's in groups.
    package static func added(
        to messages: [Message], of account: Account, in database: Database
    ) throws -> [Message] {
        var groups: [String: [(member: JID, position: Int64?)]] = [:]
        return try messages.map { message in
            guard message.id > 0, message.direction == .outgoing, message.type == "groupchat",
                message.state == .delivered || message.state == .displayed,
                let position = try MessageReader(database: database, account: account.id).place(of: message.id)?
                    .position
            else { return message }
            let members =
                try groups[message.conversation]
                ?? GroupReaders(message.conversation, of: account, in: database)?.all() ?? []
            groups[message.conversation] = members
            guard !members.isEmpty else { return message }
            var message = message
            message.reading = GroupReading(
                readers: members.filter { ($0.position ?? .min) >= position }.map(\.member),
                others: members.filter { ($0.position ?? .min) < position }.map(\.member))
            return message
        }
    }
}
