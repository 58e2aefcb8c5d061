import KalijAddress
import KalijCore
import KalijStore

/// Displayed markers of the members of a group (XEP-0333, "Usage within MUC"): a member is known by the address that the room shows. In
/// other rooms markers are neither sent nor handled.
struct GroupMarkers {
    let step: Step
    let room: RoomRow

    private var database: Database { step.database }
    private var messages: MessageReader { MessageReader(database: step.database, account: step.account.id) }
    private var archive: Archive { Archive(room: room.jid) }

    /// - Returns: nil if `conversation` is no group, or a group with too many members.
    init?(_ conversation: String, in step: Step) throws {
        let jid = JID.received(conversation)
        guard jid.isBare, let room = try RoomRows(database: step.database, account: step.account.id).room(jid),
            try GroupReaders.areKnown(in: room, step.database)
        else { return nil }
        (self.step, self.room) = (step, room)
    }

    /// How far the members have read.
    var readers: GroupReaders { GroupReaders(room: room, account: step.account, database: database) }

    /// Whether the account may say here what the user has read.
    var mayTell: Bool {
        get throws { try room.isWanted && !step.settings(with: room.jid).off.contains(.markers) }
    }

    /// Whether the archive is being read, so that earlier messages may still be missing.
    var isMoving: Bool {
        get throws {
            try ArchiveSync(step: step, archive: archive).round().map { $0.phase != .done } ?? false
        }
    }

    /// Handles a marker for the message with the archive's id `id`.
    func received(for id: String, _ marker: IncomingMessage) throws {
        guard marker.source != .archive || marker.archive == archive.key, Archive.isID(id) else { return }
        guard marker.direction == .incoming else {
            return try DisplayedPlaces(step: step)
                .displayed(.archived(id, archive), in: room.jid.description, by: .marker)
        }
        guard case .address(let member)? = marker.author.flatMap({ RoomAuthor($0) }) else { return }
        if let place = try messages.place(archived: id, in: archive, conversation: room.jid.description) {
            return try displayed(place, by: member)
        }
        guard !marker.isOlder, try Members.contain(member, of: room, in: database) else { return }
        try database.run(
            "INSERT OR REPLACE INTO early_group_marker(account, conversation, member, message) VALUES (?, ?, ?, ?)",
            readers.key + [.text(member.description), .text(id)])
    }

    /// Handles a stored message of the room, whose markers may have been received before.
    static func stored(_ message: Message, in step: Step) throws {
        guard let id = message.stanzaID else { return }
        let members = try step.database.statement(
            "SELECT member FROM early_group_marker WHERE account = ? AND conversation = ? AND message = ?"
        ).all([.integer(step.account.id), .text(message.conversation), .text(id)]) { $0.text() }
        guard !members.isEmpty, let markers = try GroupMarkers(message.conversation, in: step),
            let place = try markers.messages.place(of: message.id)
        else { return }
        for member in members { try markers.displayed(place, by: .received(member)) }
    }

    /// `member` has displayed the message at `place`, and all before.
    private func displayed(_ place: MessageReader.Place, by member: JID) throws {
        try database.run(
            "DELETE FROM early_group_marker WHERE account = ? AND conversation = ? AND member = ?",
            readers.key + [.text(member.description)])
        guard try Members.contain(member, of: room, in: database) else { return }
        var order = ArchiveOrder(database: database, account: step.account.id)
        if let last = try readers.place(of: member), try order.rank(of: place) <= order.rank(of: last) { return }
        try database.run(
            "INSERT OR REPLACE INTO displayed_by_member(account, conversation, member, message, position) VALUES (?, ?, ?, ?, ?)",
            readers.key + [.text(member.description), .integer(place.row), .integer(place.position)])
        step.emit(GroupRead(room: room.jid, member: member, message: place.row))
        try displayedByAll()
    }

    /// Records how far all members have read: that does not become less if somebody joins.
    private func displayedByAll() throws {
        let conversation = room.jid.description
        let old = try DisplayedByContact.position(conversation, of: step.account.id, in: database)
        guard let position = try readers.all().map({ $0.position ?? .min }).min(), position > old,
            let row = try MarkableMessages(database: database, account: step.account.id)
                .newest(.outgoing, in: conversation, after: old, through: position)?.row,
            let own = try messages.place(of: row)
        else { return }
        try database.run(
            "INSERT OR REPLACE INTO displayed_by(account, contact, message, position) VALUES (?, ?, ?, ?)",
            [.integer(step.account.id), .text(conversation), .integer(own.row), .integer(own.position)])
        try MessageWriter(step: step).displayed(own.row)
    }
}
