import KalijAddress
import KalijHandlers
import KalijCore
import KalijStore
import KalijStream
import KalijText
import KalijXML

/// The rooms of a step (XEP-0045): passes events to the membership of a room, and performs the actions that it returns.
struct RoomCoordinator {
    let step: Step
    var rows: RoomRows { RoomRows(database: step.database, account: step.account.id) }

    static let namespace = "http://jabber.org/protocol/muc"
    static let user = namespace + "#user"

    /// Performs the actions for `event`, and stores the room.
    func handle(_ event: RoomMembership.Event, _ room: inout RoomRow) throws {
        let before = room.stay.state
        for action in room.stay.handle(event) { try perform(action, &room) }
        try rows.save(room)
        guard before != room.stay.state else { return }
        if room.stay.mayCreate { try updatePlan(room) }
        if room.stay.state != .doubtful, before != .doubtful { step.emit(RoomChanged(room)) }
    }

    private func updatePlan(_ room: RoomRow) throws {
        let plans = RoomPlans(step: step)
        switch room.stay.state {
        case .joined: try plans.handle(.entered, of: room)
        case .absent: try plans.handle(.notOpen, of: room)
        case .left: try plans.handle(.failed(Reason(.roomLeft).stored), of: room)
        case .refused, .gone, .waiting:
            try plans.handle(.refused((room.reason ?? Reason(.noReply)).stored), of: room)
        default: break
        }
    }

    private func perform(_ action: RoomMembership.Action, _ room: inout RoomRow) throws {
        switch action {
        case .requestInfo: try requestInfo(room)
        case .join(let renamed): try join(&room, renamed: renamed)
        case .ping: try SelfPing(step: step).send(to: room)
        case .leave: try leave(&room)
        case .wait(let seconds):
            try step.schedule(RoomRejoinTimer(room: room.id, failures: room.stay.failures), after: .seconds(seconds))
        case .settle: try settle(&room)
        case .confirm:
            guard try RoomOutbox(step: step, room: room).confirmed() else { return }
            for action in room.stay.handle(.historyNeeded) { try perform(action, &room) }
        case .out(let reason): try out(&room, reason)
        case .destroyed(let successor):
            room.successor = successor.map { $0.cut(to: 1000) }
            try Bookmarks(step: step).changed(room, isGone: true)
        }
    }

    // MARK: In

    /// Queries the room before joining. Joining must never create a room: joining a room that no longer exists would make the account
    /// its owner (measured: ejabberd).
    private func requestInfo(_ room: RoomRow) throws {
        try step.send(
            .discovery(DiscoveryInfo.namespace, of: room.jid), then: RoomInfoResponse(room: room.id),
            within: EngineLimits.serverTimeout)
    }

    func described(_ reply: IQReply, _ room: inout RoomRow) throws {
        guard room.stay.state == .asking else { return try refresh(reply, &room) }
        switch reply {
        case .result:
            guard let info = reply.discoveryInfo.map(RoomInfo.init) else { return try handle(.unanswered, &room) }
            try apply(info, &room)
            let shows = info.isNonAnonymous && !info.isMembersOnly && !room.mayShowAddress
            try handle(.described(shows: shows), &room)
        case .error(let error, _): try handle(.notDescribed(error), &room)
        case .timeout: try handle(.unanswered, &room)
        }
    }

    /// The room has announced a changed configuration (section 10.2.1).
    func configurationChanged(_ room: RoomRow) throws {
        // A room may announce changes without limit.
        if try !Requests(step: step).isUnsent(RoomInfoResponse.name, to: room.jid) { try requestInfo(room) }
    }

    private func refresh(_ reply: IQReply, _ room: inout RoomRow) throws {
        guard case .result = reply, let info = reply.discoveryInfo.map(RoomInfo.init) else { return }
        try apply(info, &room)
        try rows.save(room)
    }

    func apply(_ info: RoomInfo, _ room: inout RoomRow) throws {
        guard info != room.info else { return }
        let hasNewArchive = info.hasArchive && !room.info.hasArchive
        let isNewGroup = info.isGroup && !room.info.isGroup
        room.info = info
        step.emit(RoomInfoChanged(room))
        // An archive that a later configuration has enabled, in a new group for example, was not read on entering. The room's
        // stanza-ids are trusted only after its archive was read.
        let isIn = room.stay.state.isIn && room.stay.state != .entering
        if hasNewArchive, isIn { try RoomOutbox(step: step, room: room).read() }
        // The plan of a new group queries the lists when everybody was added.
        if isNewGroup, isIn, !room.stay.mayCreate { try Members(step: step, room: room).queryLists() }
    }

    /// Each available presence to a room is a join, with the `<x/>` element. Without it, a server may admit an account and never send
    /// it anything (measured: ejabberd), or reject it (Prosody).
    private func join(_ room: inout RoomRow, renamed: Bool) throws {
        room.join += 1
        room.overlaps = false
        room.occupantID = nil
        room.held = renamed ? "\(room.nick)-\(room.stay.renamings + 1)" : room.nick
        guard let occupant = try? room.jid.with(resource: room.held ?? room.nick) else {
            return try handle(.refused(StanzaError(.jidMalformed)), &room)
        }
        let history = Element("history", xmlns: Self.namespace)
        if let since = try RoomDeliveryEvidence(step: step, room: room).historyBegin() {
            history["since"] = DateTime.text(since)
        } else {
            history["maxchars"] = "0"
            history["maxstanzas"] = "0"
        }
        let x = Element("x", xmlns: Self.namespace, children: [history])
        if let password = room.password { x.add(Element("password", xmlns: Self.namespace, text: password)) }
        try step.send(
            Element(
                "presence", xmlns: "jabber:client", attributes: ["to": occupant.description],
                children: [x] + step.features.capabilities.elements))
        try SelfPing(step: step).send(to: room)
    }

    /// The join sequence of the room was received completely.
    private func settle(_ room: inout RoomRow) throws {
        (room.reason, room.former) = (nil, nil)
        room.heardAt = step.steady.now
        room.since = try room.since ?? ServerTime(step: step).now
        try Occupants(step: step, room: room).removeOlder()
        try step.schedule(RoomSilenceTimer(room: room.id, join: room.join), after: SelfPing.silence)
        try end(&room, .done)
        try RoomOutbox(step: step, room: room).entered()
        try Members(step: step, room: room).queryLists()
        if !room.stay.mayCreate { try Bookmarks(step: step).entered(room) }
    }

    // MARK: Out

    private func leave(_ room: inout RoomRow) throws {
        guard let held = room.held else { return }
        try step.send(
            Element(
                "presence", xmlns: "jabber:client", attributes: ["type": "unavailable", "to": "\(room.jid)/\(held)"]))
    }

    private func out(_ room: inout RoomRow, _ reason: Reason?) throws {
        room.reason = reason
        (room.held, room.former) = (nil, nil)
        try Occupants(step: step, room: room).removeAll()
        try end(&room, .failed(reason ?? Reason(.roomLeft)))
        if reason == nil { try RoomOutbox(step: step, room: room).failAll(Reason(.roomLeft)) }
    }

    /// The room has rejected the new nickname: the account keeps the former one (section 7.6).
    func keepName(_ former: String, in room: inout RoomRow, _ error: StanzaError) throws {
        (room.held, room.nick, room.former) = (former, former, nil)
        try end(&room, .failed(error.condition == .conflict ? Reason(.nicknameTaken) : Reason(error)))
        try handle(.nameKept, &room)
    }

    private func end(_ room: inout RoomRow, _ outcome: IntentOutcome) throws {
        guard let intent = room.intent else { return }
        room.intent = nil
        try Intents(step: step).end(intent, outcome)
    }

    // MARK: The session

    /// The session is lost: the account is no longer an occupant of any room.
    func sessionLost() throws {
        for name in [RoomInfoResponse.name, SelfPingResponse.name, RoomPingResponse.name, MemberListResponse.name] {
            try Requests(step: step).forget(name, unqueueing: true)
        }
        try RoomPlans(step: step).sessionLost()
        try Bookmarks(step: step).sessionLost()
        for var room in try rows.all() where room.stay.state.isUnderway {
            (room.stay.state, room.former) = (.waiting, nil)
            try Occupants(step: step, room: room).removeAll()
            try rows.save(room)
        }
        try RoomOutbox.sessionLost(step)
    }

    /// The session may send presence.
    func sessionBegan() throws {
        try Pacing(step: step).forget(RoomInfoResponse.name)
        for var room in try rows.all() where room.isWanted { try handle(.sessionBegan, &room) }
        try RoomPlans(step: step).sessionBegan()
    }

    /// The session was resumed. After a longer time without a connection a room may have removed this account: another server does not
    /// notify a client that it cannot reach.
    func sessionResumed() throws {
        try RoomOutbox.sessionResumed(step)
        for var room in try rows.all() {
            if room.stay.state == .joined, step.steady.now - room.heardAt > SelfPing.maxOffline {
                try handle(.doubted, &room)
            }
            if room.stay.state.isIn, room.stay.state != .entering { try RoomOutbox(step: step, room: room).read() }
        }
    }
}

/// Handles the description of a room.
struct RoomInfoResponse: InvalidatableHandler, PacedHandler {
    static let name = "rooms.described"
    /// Each attempt to enter a room begins with this query.
    static let pace = RequestPace(10, atOnceThen: .seconds(30), upTo: .seconds(3600))
    let room: Int64
    var paceKey: String { "\(room)" }

    func call(_ reply: IQReply, in step: Step) throws {
        let rooms = RoomCoordinator(step: step)
        if var row = try rooms.rows.room(room) { try rooms.described(reply, &row) }
    }

    /// The next session queries the room again.
    func invalidate(_ reason: Invalidation, in step: Step) throws {}
}

/// Enters a room again after a failed attempt.
struct RoomRejoinTimer: Handler {
    static let name = "rooms.due"
    let room: Int64
    /// Identifies the attempt.
    let failures: Int

    func call(_: Void, in step: Step) throws {
        let rooms = RoomCoordinator(step: step)
        guard var row = try rooms.rows.room(room), row.isWanted, row.stay.failures == failures else { return }
        try rooms.handle(.due, &row)
        step.flush()
    }
}
