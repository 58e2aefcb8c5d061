import KalijAddress
import KalijHandlers
import KalijCore
import KalijStream
import KalijXML

/// Determines whether this account is still an occupant of a room (XEP-0410).
struct SelfPing {
    let step: Step

    /// After this time without a stanza from the room the account sends a ping.
    static let silence = Duration.seconds(15 * 60)
    /// After this many milliseconds without a connection the account sends a ping.
    static let maxOffline: Int64 = 5 * 60 * 1000
    /// After this time a ping without a conclusive response is repeated.
    static let retryInterval = Duration.seconds(60)

    func send(to room: RoomRow) throws {
        guard let held = room.held, let occupant = try? room.jid.with(resource: held) else { return }
        try step.send(
            .request(.get, Element("ping", xmlns: "urn:xmpp:ping"), to: occupant),
            then: SelfPingResponse(room: room.id, join: room.join), within: EngineLimits.serverTimeout)
    }

    /// The meaning of the response (section 3.2); nil if the room has to be queried for its existence.
    /// - Parameter held: the present nickname. If the room assigned it after the ping was sent (XEP-0045, status 210), an error for the
    ///   former nickname does not mean that the account is no occupant.
    fileprivate static func presence(_ reply: IQReply, held: JID?) -> RoomMembership.Presence? {
        switch reply {
        case .error(_, let iq) where iq["from"].map(JID.received) != held:
            return .inside
        case .result: return .inside
        case .timeout: return .unknown
        case .error(let error, _):
            switch error.condition {
            case .serviceUnavailable, .featureNotImplemented: return .inside
            // The nickname has changed meanwhile, or the room no longer exists (measured: ejabberd).
            case .itemNotFound: return nil
            default: return error.isUnreachable ? .unknown : .outside
            }
        }
    }
}

/// Handles the response to a self-ping.
struct SelfPingResponse: InvalidatableHandler {
    static let name = "rooms.pinged"
    let room: Int64
    let join: Int64

    func call(_ reply: IQReply, in step: Step) throws {
        let rooms = RoomCoordinator(step: step)
        guard var row = try rooms.rows.room(room, join: join) else { return }
        guard let presence = SelfPing.presence(reply, held: row.held.flatMap { try? row.jid.with(resource: $0) }) else {
            try step.send(
                .discovery(DiscoveryInfo.namespace, of: row.jid), then: RoomPingResponse(room: room, join: join),
                within: EngineLimits.serverTimeout)
            return
        }
        try rooms.pinged(presence, &row)
    }

    func invalidate(_ reason: Invalidation, in step: Step) throws {}
}

/// Handles the response of a room that has no occupant with the pinged nickname: the room exists, or not.
struct RoomPingResponse: InvalidatableHandler {
    static let name = "rooms.there"
    let room: Int64
    let join: Int64

    func call(_ reply: IQReply, in step: Step) throws {
        let rooms = RoomCoordinator(step: step)
        guard var row = try rooms.rows.room(room, join: join) else { return }
        switch reply {
        case .result: try rooms.pinged(.inside, &row)
        case .timeout: try rooms.pinged(.unknown, &row)
        case .error(let error, _): try rooms.pinged(error.isUnreachable ? .unknown : .outside, &row)
        }
    }

    func invalidate(_ reason: Invalidation, in step: Step) throws {}
}

/// Checks how long ago the last stanza of a room was received.
struct RoomSilenceTimer: Handler {
    static let name = "rooms.silent"
    let room: Int64
    let join: Int64

    func call(_: Void, in step: Step) throws {
        let rooms = RoomCoordinator(step: step)
        guard var row = try rooms.rows.room(room, join: join), row.stay.state.isIn else { return }
        let left = SelfPing.silence.milliseconds - (step.steady.now - row.heardAt)
        // The time of the last stanza is recorded to the minute.
        guard left > 60_000 else {
            try rooms.handle(.doubted, &row)
            try step.schedule(self, after: SelfPing.silence)
            return step.flush()
        }
        try step.schedule(self, after: .milliseconds(left))
    }
}

extension RoomCoordinator {
    func pinged(_ presence: RoomMembership.Presence, _ room: inout RoomRow) throws {
        let wasDoubtful = room.stay.state == .doubtful
        if presence == .inside { room.heardAt = step.steady.now }
        try handle(.pinged(presence), &room)
        if presence == .unknown, wasDoubtful {
            try step.schedule(RoomDoubtTimer(room: room.id, join: room.join), after: SelfPing.retryInterval)
        }
    }
}

/// Repeats a self-ping without a conclusive response.
struct RoomDoubtTimer: Handler {
    static let name = "rooms.doubted"
    let room: Int64
    let join: Int64

    func call(_: Void, in step: Step) throws {
        let rooms = RoomCoordinator(step: step)
        guard var row = try rooms.rows.room(room, join: join) else { return }
        try rooms.handle(.doubted, &row)
        step.flush()
    }
}
