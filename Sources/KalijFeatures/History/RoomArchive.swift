import KalijCore
import KalijAddress
import KalijStore
import KalijXML

/// The archive of a room (XEP-0313, XEP-0045), read in the same way as the account's own.
struct RoomArchive {
    package let step: Step
    package let room: Archive

    /// Queries the room for its features, then reads its archive from the point of the last complete reading. Call this after the room
    /// is joined: some rooms disclose the archive to occupants only.
    package func read() throws {
        try step.send(
            .request(.get, Element("query", xmlns: "http://jabber.org/protocol/disco#info"), to: room.recipient),
            then: RoomArchiveInfoResponse(room: room.key), within: EngineLimits.archiveTimeout)
    }

    package func answered(_ reply: IQReply) throws {
        guard case .result(let iq) = reply else { return emit("the room does not say whether it has an archive") }
        guard iq.check("/<type=result>/{http://jabber.org/protocol/disco#info}query/feature<var=urn:xmpp:mam:2>") else {
            return emit("the room has no archive")
        }
        try ArchiveSync(step: step, archive: room).beginRoom(trusted: true)
    }

    package func emit(_ problem: String) {
        if let room = room.recipient { step.emit(RoomRead(room: room, problem: problem)) }
    }

    /// Whether the stanza-ids of a room's messages are the ids of its archive (XEP-0359 section 5).
    static func isTrusted(_ room: String, in step: Step) throws -> Bool {
        try step.database.statement("SELECT trusted FROM catchup WHERE account = ? AND archive = ?")
            .first([.integer(step.account.id), .text(room)]) { $0.bool() } ?? false
    }
}

extension Step {
    /// Reads the archive of a joined room, from the point of the last complete reading; `RoomRead` reports the end.
    /// Call this after each join, and after each resumption of the session.
    public func readArchive(of room: JID) throws {
        try RoomArchive(step: self, room: Archive(room: room)).read()
    }

    /// Backfills older history from an archive, in the background; `HistoryFilled` reports the end. The backfill continues across
    /// sessions and processes.
    /// - Parameters:
    ///   - older: how many messages from before the first stored message.
    ///   - gaps: whether to fetch messages missing between stored messages.
    ///   - room: the room with the archive; nil for the account's own archive.
    public func fetchHistory(older: Int = 0, gaps: Bool = false, of room: JID? = nil) throws {
        try Backfill(step: self, archive: room.map(Archive.init(room:)) ?? .own).request(older: older, gaps: gaps)
    }

    /// Fetches older history of one conversation, in the background, and nothing else of the archive; `HistoryFilled` reports the end. The
    /// reading continues across sessions and processes, and remembers where the conversation begins.
    /// - Parameters:
    ///   - older: how many messages from before the first stored message.
    ///   - peer: a contact, a room, or an occupant of a room.
    public func fetchHistory(older: Int, with peer: JID) throws {
        let isRoom = try hooks.roomProviders.contains { try $0.isRoom(peer, in: self) }
        if isRoom, peer.isBare { return try fetchHistory(older: older, of: peer) }
        let name = isRoom ? peer.description : peer.bare.description
        try ConversationHistory(step: self, conversation: name).request(older: older)
    }
}
