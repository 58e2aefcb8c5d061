import KalijAddress
import KalijHandlers
import KalijCore
import KalijStore
import KalijStream
import KalijXML

/// A member of a room, present or not (XEP-0045 section 5.2).
public struct RoomMember: Sendable, Equatable {
    /// The bare address.
    public let jid: JID
    /// `owner`, `admin`, `member`.
    public let affiliation: String
}

/// The members of a group: everybody who may enter, present or not. Only groups are queried: in other rooms the list may be long, or
/// not public.
package struct Members {
    let step: Step
    let room: RoomRow

    private static let lists = ["owner", "admin", "member"]
    /// The maximum number of stored members of a room.
    private static let maxMembers: Int64 = 5000

    /// The room has acknowledged the affiliation of `people`. It is recorded before the lists are queried again: a new member has to be
    /// able to read the next encrypted message, and a removed one must not.
    func confirmed(_ people: [String], _ affiliation: String) throws {
        guard room.info.isGroup, room.stay.state.isIn else { return }
        for jid in people { try set(JID.received(jid), affiliation) }
    }

    /// Queries all lists.
    func queryLists() throws {
        guard room.info.isGroup, room.stay.state.isIn else { return }
        try query(Self.lists[0])
    }

    fileprivate func query(_ list: String) throws {
        let item = Element("item", xmlns: RoomCoordinator.namespace + "#admin", attributes: ["affiliation": list])
        try step.send(
            .request(
                .get, Element("query", xmlns: RoomCoordinator.namespace + "#admin", children: [item]), to: room.jid),
            then: MemberListResponse(room: room.id, list: list), within: EngineLimits.serverTimeout)
    }

    /// Handles the response to the query of a list, and queries the next list. A room that does not answer is asked no more: the
    /// recorded members count.
    fileprivate func received(_ reply: IQReply, _ list: String) throws {
        if case .result(let iq) = reply, let query = iq.child("query", RoomCoordinator.namespace + "#admin") {
            try apply(list, query.children("item"))
        }
        let next = (Self.lists.firstIndex(of: list) ?? Self.lists.count) + 1
        if case .timeout = reply { return try end() }
        if next < Self.lists.count { try query(Self.lists[next]) } else { try end() }
    }

    /// The lists have come: encrypted messages need not wait for them any more.
    private func end() throws {
        try step.database.run("UPDATE room SET listed = joins WHERE id = ?", [.integer(room.id)])
        try RoomOutbox(step: step, room: room).flush()
    }

    private func apply(_ list: String, _ people: [Element]) throws {
        // characters: elements.
        let jids = Set(people.prefix(Int(Self.maxMembers)).compactMap { RoomPresence.address($0["jid"]) })
        let known = try Self.all(of: room, in: step.database).filter { $0.affiliation == list }
        for member in known where !jids.contains(member.jid) { try remove(member.jid) }
        for jid in jids.sorted() { try set(jid, list) }
    }

    /// Records the affiliation of `jid`.
    func set(_ jid: JID, _ affiliation: String) throws {
        guard Self.lists.contains(affiliation) else { return try remove(jid) }
        let id = Value.integer(room.id)
        let known = try step.database.statement("SELECT affiliation FROM room_member WHERE room = ? AND jid = ?")
            .first([id, .text(jid.bare.description)]) { $0.text() }
        guard known != affiliation else { return }
        guard try known != nil || !isFull else { return }
        try step.database.run(
            "INSERT OR REPLACE INTO room_member(room, jid, affiliation) VALUES (?, ?, ?)",
            [id, .text(jid.bare.description), .text(affiliation)])
        step.emit(MemberChanged(room: room.jid, RoomMember(jid: jid.bare, affiliation: affiliation)))
    }

    private var isFull: Bool {
        get throws {
            try step.database.statement("SELECT 1 FROM room_member WHERE room = ? LIMIT 1 OFFSET ?")
                .first([.integer(room.id), .integer(Self.maxMembers - 1)]) { _ in true } ?? false
        }
    }

    private func remove(_ jid: JID) throws {
        try step.database.run(
            "DELETE FROM room_member WHERE room = ? AND jid = ?", [.integer(room.id), .text(jid.bare.description)])
        guard step.database.changes > 0 else { return }
        step.emit(MemberChanged(room: room.jid, RoomMember(jid: jid.bare, affiliation: "none")))
    }

    /// Whether `jid` belongs to the room.
    static func contain(_ jid: JID, of room: RoomRow, in database: Database) throws -> Bool {
        try database.statement("SELECT 1 FROM room_member WHERE room = ? AND jid = ?")
            .first([.integer(room.id), .text(jid.bare.description)]) { _ in true } ?? false
    }

    /// The number of the members.
    static func count(of room: RoomRow, in database: Database) throws -> Int {
        try database.statement("SELECT count(*) FROM room_member WHERE room = ?")
            .first([.integer(room.id)]) { Int($0.integer()) } ?? 0
    }

    /// All members, in the order of their addresses. Can be called outside of a step.
    package static func all(of room: RoomRow, in database: Database) throws -> [RoomMember] {
        try database.statement("SELECT jid, affiliation FROM room_member WHERE room = ? ORDER BY jid")
            .all([.integer(room.id)]) {
                RoomMember(jid: .received($0.text("jid")), affiliation: $0.text("affiliation"))
            }
    }
}

/// Handles a list of members. After an error or a timeout the recorded members of that list are kept.
struct MemberListResponse: InvalidatableHandler {
    static let name = "rooms.members"
    let room: Int64
    let list: String

    func call(_ reply: IQReply, in step: Step) throws {
        guard let row = try RoomCoordinator(step: step).rows.room(room) else { return }
        try Members(step: step, room: row).received(reply, list)
    }

    /// The next session queries the lists again.
    func invalidate(_ reason: Invalidation, in step: Step) throws {}
}
