import KalijAddress
import KalijCore
import KalijStream
import KalijText
import KalijXML

/// Presence from rooms.
extension RoomCoordinator {
    /// Handles a presence stanza, from a room or from any other sender.
    func received(_ presence: Element) throws {
        guard let from = presence["from"].map(JID.received), var room = try rows.room(from) else { return }
        switch presence["type"] {
        case "error":
            if let error = StanzaError(presence) { try refused(error, from, &room) }
        case nil, "unavailable": try received(RoomPresence(presence, of: from), of: &room)
        default: break
        }
    }

    private func received(_ presence: RoomPresence, of room: inout RoomRow) throws {
        if let jid = presence.occupant?.jid, room.info.isGroup, let occupant = presence.occupant {
            try Members(step: step, room: room).set(jid, occupant.affiliation)
        }
        guard let nick = presence.nick, room.stay.state.isIn || room.stay.state == .joining else { return }
        try heard(&room)
        let isOwn = presence.isOwn || nick.exact == room.held?.exact
        guard presence.isAvailable else { return try occupantLeft(nick, presence, isOwn: isOwn, &room) }
        // A gateway may mark the account's own presence without describing the occupant.
        guard presence.occupant != nil || presence.isOwn else { return }
        if let occupant = presence.occupant, try Occupants(step: step, room: room).store(occupant, isOwn: isOwn),
            room.stay.state == .joined
        {
            step.emit(OccupantChanged(room, occupant, isHere: true))
        }
        guard isOwn else { return }
        // The room may have given another nickname (status 210).
        let occupantID = presence.occupant?.occupantID
        if room.held?.exact != nick.exact || occupantID != nil {
            (room.held, room.occupantID) = (nick, occupantID ?? room.occupantID)
            try rows.save(room)
        }
        if room.stay.state == .joining {
            if presence.statuses.contains(100) { room.info.isNonAnonymous = true }
            try handle(.entered(isNew: presence.statuses.contains(201)), &room)
        }
    }

    /// An error for a nickname that is neither held nor requested is late or spurious.
    private func refused(_ error: StanzaError, _ from: JID, _ room: inout RoomRow) throws {
        let held = room.held.flatMap { try? room.jid.with(resource: $0) }
        guard from.isBare || from == held || held == nil else { return }
        if let former = room.former, room.stay.state == .joining { return try keepName(former, in: &room, error) }
        try handle(.refused(error), &room)
    }

    private func occupantLeft(_ nick: String, _ presence: RoomPresence, isOwn: Bool, _ room: inout RoomRow) throws {
        if presence.statuses.contains(303), let newNick = presence.newNick {
            try Occupants(step: step, room: room).renamed(nick, to: newNick)
            guard isOwn else { return }
            room.held = newNick
            return try rows.save(room)
        }
        if try Occupants(step: step, room: room).remove(nick), room.stay.state == .joined, !isOwn,
            let occupant = presence.occupant
        {
            step.emit(OccupantChanged(room, occupant, isHere: false))
        }
        if isOwn { try handle(.removed(presence.removal), &room) }
    }

    /// Records activity of the room, at most once a minute: a write for each message would cost more than the precision is worth.
    func heard(_ room: inout RoomRow) throws {
        guard step.steady.now - room.heardAt > 60_000 else { return }
        room.heardAt = step.steady.now
        try rows.save(room)
    }
}

extension Occupants {
    /// The occupant's nickname changes from `old` to `new`; the presence of `new` follows (section 7.6).
    fileprivate func renamed(_ old: String, to new: String) throws {
        guard let occupant = try occupant(old), let stay = try stay(of: old) else { return }
        _ = try remove(old)
        _ = try store(
            Occupant(
                nick: new, jid: occupant.jid, occupantID: occupant.occupantID, affiliation: occupant.affiliation,
                role: occupant.role), stay: stay)
    }
}
