import KalijAddress
import KalijCore
import KalijText

/// Enters a room, and stays there until ``LeaveRoom`` (XEP-0045 section 7.2). Never creates a room.
public struct JoinRoom: Intent {
    public static let name = "join"
    /// The bare address of the room.
    public let room: String
    /// The nickname; nil for the last nickname in this room, or the account's local part.
    public let nick: String?
    /// The password of the room; nil if none is needed.
    public let password: String?
    /// Whether the user agrees that everybody in an open room sees the account's address.
    public let showAddress: Bool?

    private enum CodingKeys: String, CodingKey {
        case room, nick, password
        case showAddress = "show_address"
    }

    /// - Parameters:
    ///   - room: the address of the room.
    ///   - nick: the nickname; nil for the last nickname in this room, or the account's local part.
    ///   - password: the password of the room; nil if none is needed.
    ///   - showAddress: whether the user agrees that everybody in an open room sees the account's address.
    public init(_ room: JID, nick: String? = nil, password: String? = nil, showAddress: Bool = false) {
        (self.room, self.nick, self.password) = (room.bare.description, nick, password)
        self.showAddress = showAddress ? true : nil
    }

    public func check() throws {
        let room = try JID(room)
        guard room.isBare, room.local != nil else { throw IntentFailure("\(room) is not the address of a room") }
        if let nick { _ = try JID("\(room)/\(nick)") }
    }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        try check()
        let (rooms, jid) = (RoomCoordinator(step: step), try JID(room))
        let invitation = try Invitations(step: step).close(jid)
        guard jid.bare != step.account.jid else { throw IntentFailure("\(jid) is the account itself") }
        let usual = nick ?? step.account.jid.local ?? "kalij"
        guard var row = try rooms.rows.make(jid, nick: usual) else { return .failed("the room cannot be stored") }
        let isRenamed = nick != nil && nick?.exact != row.held?.exact && row.stay.state.isIn
        row.isWanted = true
        row.nick = try nick.map { try JID("\(jid)/\($0)").resource ?? $0 } ?? row.nick
        row.password = password ?? invitation?.password ?? row.password
        row.mayShowAddress = showAddress ?? row.mayShowAddress
        if row.stay.state == .joined || row.stay.state == .doubtful, !isRenamed {
            try rooms.rows.save(row)
            return .done
        }
        if let earlier = row.intent { try Intents(step: step).end(earlier, .failed("asked again")) }
        row.intent = id
        guard try SessionRow.isAvailable(step.account.id, in: step.database) else {
            // The room is entered as soon as presence was sent.
            if !row.stay.state.isUnderway { row.stay = RoomMembership(.waiting) }
            try rooms.rows.save(row)
            return .pending
        }
        try rooms.rows.save(row)
        try rooms.forgetPace(of: row)
        if isRenamed { try rooms.rename(&row) } else { try rooms.handle(.joinRequested, &row) }
        return .pending
    }
}

/// Leaves a room (XEP-0045 section 7.14). The stored messages are kept.
public struct LeaveRoom: Intent {
    public static let name = "leave"
    /// The bare address of the room.
    public let room: String

    /// - Parameter room: the address of the room.
    public init(_ room: JID) { self.room = room.bare.description }

    public func check() throws { _ = try JID(room) }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        let (rooms, jid) = (RoomCoordinator(step: step), try JID(room))
        guard var row = try rooms.rows.room(jid) else { throw IntentFailure("\(jid) is no room of this account") }
        row.isWanted = false
        try rooms.handle(.leaveRequested, &row)
        try Bookmarks(step: step).changed(row)
        return .done
    }
}

extension RoomCoordinator {
    /// Resets the pace after a request by the user: earlier attempts do not count, and a query that was deferred is sent now.
    fileprivate func forgetPace(of room: RoomRow) throws {
        try Pacing(step: step).forget(RoomInfoResponse.name, "\(room.id)")
    }

    /// Changes the nickname in the room, by presence under the new one (section 7.6).
    func rename(_ room: inout RoomRow) throws {
        room.former = room.held
        room.stay.state = .asking
        try handle(.described(shows: false), &room)
    }

    /// Removes whatever can be fetched from the server again. The joined rooms are entered again after the next login.
    func accountLoggedOut() throws {
        for var room in try rows.all() {
            if room.stay.state.isUnderway { room.stay.state = .waiting }
            try Occupants(step: step, room: room).removeAll()
            try rows.save(room)
        }
        try Bookmarks(step: step).forget()
    }
}
