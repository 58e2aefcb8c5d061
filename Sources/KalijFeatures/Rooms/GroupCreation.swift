import KalijAddress
import KalijCore
import KalijText

/// A group in creation, or one whose creation has failed (``CreateRoom``).
public struct GroupCreation: Sendable, Equatable {
    /// A stage of the creation.
    public enum Stage: String, Sendable, CaseIterable {
        /// The server is queried for a service with rooms; or there is no session yet.
        case finding
        /// The account is entering the new room.
        case entering
        /// The room is made a group.
        case configuring
        /// The people are made members.
        case adding
        /// The room cannot be made a group, and is being destroyed.
        case removing
        /// There is no group: ``RetryGroup`` or ``ForgetGroup``.
        case failed
        /// The group is complete.
        case done
    }

    /// The id of the intent.
    public let id: String
    /// The name of the group.
    public let title: String
    /// How far the creation is.
    public let stage: Stage
    /// The bare address; nil until a service was found.
    public let room: JID?
    /// The bare addresses of the invited people.
    public let people: [JID]
    /// The number of people who are members by now.
    public let added: Int
    /// Why the creation fails or has failed; nil if it does not.
    public let reason: Reason?

    init(_ row: RoomPlanRow) {
        (id, title, room, added) = (row.intent, row.plan.title, row.room, row.added)
        stage = Stage(row.plan.stage)
        people = row.people.map(JID.received)
        reason = row.plan.problem.map(Reason.init(stored:))
    }
}

extension GroupCreation.Stage {
    fileprivate init(_ stage: RoomPlan.Stage) {
        self =
            switch stage {
            case .finding: .finding
            case .looking, .entering: .entering
            case .asking, .configuring, .checking, .picturing: .configuring
            case .adding: .adding
            case .destroying: .removing
            case .failed: .failed
            case .done: .done
            }
    }
}

/// Creates a group again whose creation has failed, in a new room.
public struct RetryGroup: Intent {
    public static let name = "retry_group"
    /// The id of the failed intent.
    public let group: String

    /// - Parameter group: the id of the creation (``GroupCreation/id``).
    public init(_ group: String) { self.group = group }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        var row = try RoomPlans(step: step).failed(group)
        try RoomPlans(step: step).retry(&row, intent: id)
        return .pending
    }
}

/// Removes a group whose creation has failed from the list of creations.
public struct ForgetGroup: Intent {
    public static let name = "forget_group"
    /// The id of the failed intent.
    public let group: String

    /// - Parameter group: the id of the creation (``GroupCreation/id``).
    public init(_ group: String) { self.group = group }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        let row = try RoomPlans(step: step).failed(group)
        try RoomPlans(step: step).rows.remove(row)
        step.emit(GroupCreationChanged(GroupCreation(row)))
        return .done
    }
}

extension RoomPlans {
    /// - Throws: `IntentFailure` unless the creation has failed.
    fileprivate func failed(_ group: String) throws -> RoomPlanRow {
        guard let row = try rows.row(intent: group), row.plan.stage == .failed else {
            throw IntentFailure("there is no failed creation of a group with the id \(group)")
        }
        return row
    }
}

/// The creation of a group has reached another stage.
public struct GroupCreationChanged: EventContent {
    public static let name = "group_creation"
    public static let meaning =
        "The creation of a group has come further, has failed, or a failed one was tried again or removed."
    public static let keys: [EventKey] = [.originID, .title, .stage, .room, .reason, .reasonCode]
    /// The creation.
    public let creation: GroupCreation
    public var fields: [EventField] {
        .present(
            EventField(.originID, .text(creation.id)), EventField(.title, .text(creation.title)),
            EventField(.stage, .text(creation.stage.rawValue)), .optional(.room, creation.room?.description),
            .optional(.reason, creation.reason?.description), .optional(.reasonCode, creation.reason?.name))
    }
    public var changed: DirectoryChange.Part? { .init(.request, creation.room?.description ?? "") }
    public var line: PrintedText? { "group \"\(creation.title)\": \(creation.stage.rawValue)" }
    public var isDetail: Bool { true }

    init(_ creation: GroupCreation) { self.creation = creation }
}

extension EventKey {
    /// The stage of a creation.
    public static let stage = EventKey(
        "stage", "`finding`, `entering`, `configuring`, `adding`, `removing`, `failed` or `done`")
}
