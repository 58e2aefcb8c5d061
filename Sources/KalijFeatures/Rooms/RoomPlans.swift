import KalijAddress
import KalijHandlers
import KalijCore
import KalijStream
import KalijText
import KalijXML

import FoundationEssentials

/// Runs the plans of a step: passes events to a plan, and performs the actions that it returns.
struct RoomPlans {
    let step: Step
    private var rooms: RoomCoordinator { RoomCoordinator(step: step) }
    var rows: RoomPlanRows { RoomPlanRows(database: step.database, account: step.account.id) }

    /// The maximum number of services of a server that are queried for rooms.
    private static let maxServices = 20

    /// After this many queries a timeout is a failure.
    private static let maxQueries = 12

    // MARK: Events

    func handle(_ event: RoomPlan.Event, _ row: inout RoomPlanRow) throws {
        let before = row.plan.stage
        let actions = row.plan.handle(event)
        for action in actions { try perform(action, &row) }
        if row.plan.stage == .done { try rows.remove(row) } else { try rows.save(row) }
        if row.plan.stage == .failed { try rows.forgetOldFailures() }
        if before != row.plan.stage || !actions.isEmpty { step.emit(GroupCreationChanged(GroupCreation(row))) }
        step.flush()
    }

    /// Starts a failed plan again, with a new room; the intent `intent` ends with it.
    func retry(_ row: inout RoomPlanRow, intent: String) throws {
        (row.room, row.added, row.pictureProblem) = (nil, 0, nil)
        try rows.rename(&row, to: intent)
        try handle(.retried, &row)
        try begin(&row)
    }

    /// Begins the plan if a session is available; otherwise the next session does.
    func begin(_ row: inout RoomPlanRow) throws {
        if try SessionRow.isAvailable(step.account.id, in: step.database) { try handle(.begin, &row) }
    }

    private func perform(_ action: RoomPlan.Action, _ row: inout RoomPlanRow) throws {
        switch action {
        case .find: try find(&row)
        case .name(let service): row.room = try JID("\(UUID().uuidString.lowercased())@\(service)")
        case .checkExistence, .check: try sendQuery(.discovery(DiscoveryInfo.namespace, of: try address(row)), &row)
        case .enter: try enter(&row)
        case .requestForm: try sendQuery(RoomFormRequest.query(to: try address(row)), &row)
        case .configure(let fields):
            try sendQuery(owner(RoomAdminRequest.form(fields), row), &row)
        case .setPicture:
            do { try setPicture(&row) } catch let error as StanzaTooLong { try picture(isRefused: Reason(error), &row) }
        case .add:
            guard row.added < row.people.count else { return try handle(.added, &row) }
            try sendQuery(
                GrantMembershipRequest.request(to: try address(row).description, for: row.people[row.added]), &row)
        case .finish: try finish(row)
        case .destroy:
            try sendQuery(owner(Element("destroy", xmlns: RoomCoordinator.namespace + "#owner"), row), &row)
        case .fail(let reason): try fail(row, reason)
        }
    }

    private func address(_ row: RoomPlanRow) throws -> JID {
        guard let room = row.room else { throw IntentFailure("the room has no address") }
        return room
    }

    private func owner(_ content: Element, _ row: RoomPlanRow) throws -> Element {
        .request(
            .set, Element("query", xmlns: RoomCoordinator.namespace + "#owner", children: [content]),
            to: try address(row))
    }

    private func sendQuery(_ question: Element, _ row: inout RoomPlanRow, service: [String] = []) throws {
        row.requestCount += 1
        try step.send(
            question, then: GroupCreationResponse(plan: row.id, asked: row.requestCount, services: service),
            within: EngineLimits.serverTimeout)
    }

    // MARK: Where

    private func find(_ row: inout RoomPlanRow) throws {
        try sendQuery(.discovery(DiscoveryItem.namespace, of: try JID(step.account.jid.domain)), &row)
    }

    fileprivate func answered(_ reply: IQReply, services: [String], _ row: inout RoomPlanRow) throws {
        if case .timeout = reply {
            // The state of the room is determined anew.
            let isPatient = row.requestCount < Self.maxQueries
            return try handle(isPatient ? .sessionBegan : .failed(Reason(.noReply).stored), &row)
        }
        switch row.plan.stage {
        case .finding: try found(reply, services, &row)
        case .looking: try checkedExistence(reply, &row)
        case .asking:
            guard case .result(let iq) = reply else { return try failed(reply, &row) }
            try handle(.form(RoomFormRequest.fields(of: iq) ?? []), &row)
        case .configuring: try completed(.configured, reply, &row)
        case .checking:
            guard let info = reply.discoveryInfo.map(RoomInfo.init) else { return try failed(reply, &row) }
            if var room = try rooms.rows.room(try address(row)) {
                try rooms.apply(info, &room)
                try rooms.rows.save(room)
            }
            try handle(.checked(isGroup: info.isGroup && info.isPersistent), &row)
        case .picturing:
            guard case .error(let error, _) = reply else { return try handle(.pictured, &row) }
            try picture(isRefused: Reason(error), &row)
        case .adding:
            if case .result = reply { row.added += 1 }
            try completed(row.added < row.people.count ? .nextPerson : .added, reply, &row)
        case .destroying: try completed(.destroyed, reply, &row)
        case .entering, .failed, .done: break
        }
    }

    private func setPicture(_ row: inout RoomPlanRow) throws {
        let picture = try rows.picture(row).flatMap { try? Avatar(base64: $0) }
        try sendQuery(
            .request(.set, RoomAdminRequest.vCard(picture?.base64, picture?.type), to: try address(row)), &row)
    }

    /// The group is made without its picture, and the outcome says so.
    private func picture(isRefused reason: Reason, _ row: inout RoomPlanRow) throws {
        row.pictureProblem = reason.description
        try handle(.pictured, &row)
    }

    private func completed(_ event: RoomPlan.Event, _ reply: IQReply, _ row: inout RoomPlanRow) throws {
        if case .result = reply { try handle(event, &row) } else { try failed(reply, &row) }
    }

    private func failed(_ reply: IQReply, _ row: inout RoomPlanRow) throws {
        guard case .error(let error, _) = reply else { return try handle(.failed("the answer is malformed"), &row) }
        try handle(.failed(Reason(error).stored), &row)
    }

    private func checkedExistence(_ reply: IQReply, _ row: inout RoomPlanRow) throws {
        switch reply {
        case .result: try handle(.checkedExistence(exists: true), &row)
        case .error(let error, _) where error.condition == .itemNotFound || error.condition == .gone:
            try handle(.checkedExistence(exists: false), &row)
        case .error, .timeout: try failed(reply, &row)
        }
    }

    /// The first service with rooms, by the service's own response (XEP-0045 section 6.1).
    private func found(_ reply: IQReply, _ services: [String], _ row: inout RoomPlanRow) throws {
        var rest = services
        if services.isEmpty {
            guard let items = reply.discoveryItems else { return try handle(.found(service: nil), &row) }
            rest = items.filter { $0.jid.local == nil && $0.node == nil }.prefix(Self.maxServices).map(
                \.jid.description)
        } else {
            if let info = reply.discoveryInfo, info.supports(RoomCoordinator.namespace),
                info.identities.contains(where: { $0.category == "conference" && $0.type == "text" })
            {
                return try handle(.found(service: services[0]), &row)
            }
            rest.removeFirst()
        }
        guard let next = rest.first else { return try handle(.found(service: nil), &row) }
        try sendQuery(.discovery(DiscoveryInfo.namespace, of: JID.received(next)), &row, service: rest)
        try rows.save(row)
    }

    // MARK: In

    private func enter(_ row: inout RoomPlanRow) throws {
        let usual = row.nick ?? step.account.jid.local ?? "kalij"
        guard var room = try rooms.rows.make(try address(row), nick: usual) else { return }
        room.isWanted = true
        try rooms.handle(.creating, &room)
    }

    /// The account has entered a room, or cannot enter it.
    func handle(_ event: RoomPlan.Event, of room: RoomRow) throws {
        guard var row = try rows.row(of: room.jid) else { return }
        try handle(event, &row)
    }

    // MARK: The end

    /// In the same step as the end of the plan, so that everybody is invited exactly once.
    private func finish(_ row: RoomPlanRow) throws {
        let room = try address(row)
        try Invitations(step: step).send(to: row.people.map(JID.received), room, reason: nil)
        let problem = row.pictureProblem.map { Reason(.groupWithoutPicture, $0) }
        try Intents(step: step).end(row.intent, problem.map { .failed($0) } ?? .done)
        guard var entered = try rooms.rows.room(room) else { return }
        entered.stay.made()
        try rooms.rows.save(entered)
        try rooms.rows.record(creation: row.intent, of: entered)
        step.emit(RoomInfoChanged(entered))
        try Bookmarks(step: step).changed(entered)
        guard entered.stay.state.isIn else { return try rooms.handle(.joinRequested, &entered) }
        let members = Members(step: step, room: entered)
        try members.confirmed(row.people, "member")
        try members.queryLists()
        try RoomOutbox(step: step, room: entered).flush()
    }

    private func fail(_ row: RoomPlanRow, _ reason: String) throws {
        try Intents(step: step).end(row.intent, .failed(reason))
        guard let room = row.room, var entered = try rooms.rows.room(room) else { return }
        entered.isWanted = false
        entered.stay.made()
        try rooms.handle(.leaveRequested, &entered)
    }

    // MARK: The session

    func sessionLost() throws {
        try Requests(step: step).forget(GroupCreationResponse.name, unqueueing: true)
    }

    func sessionBegan() throws { for var row in try rows.all() { try handle(.sessionBegan, &row) } }
}

/// Handles the response to a query of a plan.
struct GroupCreationResponse: InvalidatableHandler {
    static let name = "rooms.planned"
    let plan: Int64
    /// The number of the query.
    let asked: Int64
    /// The candidates for a service with rooms; the first one was queried.
    let services: [String]

    func call(_ reply: IQReply, in step: Step) throws {
        let plans = RoomPlans(step: step)
        guard var row = try plans.rows.row(plan), row.requestCount == asked else { return }
        try plans.answered(reply, services: services, &row)
    }

    /// The next session determines the state of the room.
    func invalidate(_ reason: Invalidation, in step: Step) throws {}
}

/// Creates a group (docs.modernxmpp.org/client/groupchat): a room that is members-only, non-anonymous, hidden and persistent. No
/// message is sent and nobody is invited before the room is configured so; if it cannot be, it is destroyed.
public struct CreateRoom: Intent {
    public static let name = "create"
    /// The name of the group.
    public let title: String
    /// The nickname there; nil for the account's local part.
    public let nick: String?
    /// The bare addresses of the invited people.
    public let people: [String]?
    /// The picture in base64; nil for none.
    public let avatar: String?

    private enum CodingKeys: String, CodingKey {
        case title, nick, avatar
        case people = "invite"
    }

    /// - Parameters:
    ///   - title: the name of the group.
    ///   - nick: the nickname there; nil for the account's local part.
    ///   - people: the addresses of the invited people, 100 at most.
    ///   - avatar: the bytes of a picture: PNG, JPEG, GIF or WebP, at most 256 KiB; nil for none.
    public init(title: String, nick: String? = nil, inviting people: [JID] = [], avatar: [UInt8]? = nil) {
        (self.title, self.nick) = (title, nick)
        self.avatar = avatar.map(Avatar.base64)
        self.people = people.isEmpty ? nil : people.map(\.bare.description)
    }

    public func check() throws {
        guard (1...1023).contains(title.utf8.count), title.unicodeScalars.allSatisfy(\.isXML) else {
            throw IntentFailure("a group's name has between 1 and 1,023 bytes, of characters that XML allows")
        }
        if let nick { _ = try JID("room@example.org/\(nick)") }
        if let people { _ = try Invite.checked(people) }
        if let avatar { _ = try Avatar(base64: avatar) }
    }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        try check()
        let people = try people.map { try Invite.checked($0) } ?? []
        let plans = RoomPlans(step: step)
        guard
            var row = try plans.rows.make(title: title, nick: nick, people: people, picture: avatar, intent: id)
        else {
            return .failed("the plan cannot be stored")
        }
        step.emit(GroupCreationChanged(GroupCreation(row)))
        try plans.begin(&row)
        return .pending
    }
}
