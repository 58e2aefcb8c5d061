import KalijAddress
import KalijHandlers
import KalijSteps
import KalijStream
import KalijXML

/// Finds out whether a room still knows this account as an occupant (XEP-0410).
struct SelfPing {
    let step: Step

    /// After so long without a word from the room the account asks.
    static let silence = Duration.seconds(15 * 60)
    /// After so many milliseconds without a connection the account asks.
    static let longestOffline: Int64 = 5 * 60 * 1000
    /// After so long an unanswered question is repeated.
    static let again = Duration.seconds(60)

    func send(to room: RoomRow) throws {
        guard let held = room.held, let occupant = try? room.jid.with(resource: held) else { return }
        try step.send(
            .request(.get, Element("ping", xmlns: "urn:xmpp:ping"), to: occupant),
            then: SelfPingResponse(room: room.id, join: room.join), within: EngineLimits.serverPatience)
    }

    /// The answer (section 3.2); nil if the room has to be asked whether it still exists.
    /// - Parameter held: the present nickname. If the room assigned it after the ping left (XEP-0045, status 210), an error for the former
    ///   nickname does not mean that the account is no occupant.
    fileprivate static func presence(_ reply: IQReply, held: JID?) -> RoomMembership.Presence? {
        switch reply {
        case .error(_, let iq) where iq["from"].map(JID.received) != held:
            return .inside
        case .result: return .inside
        case .timeout: return .unknown
        case .error(let error, _):
            switch error.condition {
            case .serviceUnavailable, .featureNotImplemented: return .inside
            // The nickname has changed meanwhile, or the room is gone (measured: ejabberd).
            case .itemNotFound: return nil
            default: return error.isUnreachable ? .unknown : .outside
            }
        }
    }
}

/// The answer to a self-ping.
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
                within: EngineLimits.serverPatience)
            return
        }
        try rooms.pinged(presence, &row)
    }

    func invalidate(_ reason: Invalidation, in step: Step) throws {}
}

/// A room that does not know the pinged nickname has answered, or is gone.
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

/// Perhaps nothing was heard of a room for a long time.
struct RoomSilenceTimer: Handler {
    static let name = "rooms.silent"
    let room: Int64
    let join: Int64

    func call(_: Void, in step: Step) throws {
        let rooms = RoomCoordinator(step: step)
        guard var row = try rooms.rows.room(room, join: join), row.stay.state.isIn else { return }
        let left = SelfPing.silence.milliseconds - (step.steady.now - row.heardAt)
        // What was heard is noted to the minute.
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
            try step.schedule(RoomDoubtTimer(room: room.id, join: room.join), after: SelfPing.again)
        }
    }
}

/// A self-ping without an answer is repeated.
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
