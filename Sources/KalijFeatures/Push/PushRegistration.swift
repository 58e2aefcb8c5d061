import KalijAddress
import KalijCore
import KalijText

/// The state of push of an account, and its registration (XEP-0357).
public struct PushRegistration: Sendable, Equatable {
    /// `enabled` if the server has confirmed the registration in the present session; `enabling`, `disabling`, `waiting` for a session,
    /// `refused`, `off`.
    public let state: String
    /// The address of the push service; nil if push is off.
    public let service: String?
    /// The node of the service.
    public let node: String?
    /// The service's module.
    public let module: String?
    /// When the server has confirmed the registration, in milliseconds since 1970; nil if it has not in this session.
    public let confirmedAt: Int64?
    /// The reason why push is unavailable, as a text.
    public let problem: String?

    package init(_ row: PushRow) {
        state = row.state.stage.rawValue
        (service, node, module) = (row.state.wanted?.service, row.state.wanted?.node, row.state.wanted?.module)
        confirmedAt = row.state.stage == .enabled ? row.confirmedAt : nil
        problem = row.problem
    }

    /// A description for people.
    public var line: PrintedText {
        guard let service else { return "push: \(state)" }
        let why: PrintedText = problem.map { " (\($0))" } ?? ""
        return "push to \(service): \(state)\(why)"
    }
}

/// The state of push has changed.
public struct PushChanged: EventContent {
    public static let name = "push"
    public static let meaning = "Whether the account's server pushes has changed (XEP-0357)."
    public static let keys: [EventKey] = [.push, .service, .reason]
    /// The present registration.
    public let registration: PushRegistration
    public var fields: [EventField] {
        .present(
            EventField(.push, .text(registration.state)), .optional(.service, registration.service),
            .optional(.reason, registration.problem))
    }
    public var line: PrintedText? { registration.line }
    public var isDetail: Bool { registration.state != "refused" }

    init(_ registration: PushRegistration) { self.registration = registration }
}

extension EventKey {
    /// The state of push.
    public static let push = EventKey(
        "push",
        "`enabled` if the server has confirmed in this session that it pushes; `enabling`, `disabling`, `waiting` for a session, "
            + "`refused`, `off`")
    /// The address of a push service.
    public static let service = EventKey("service", "the address of the push service")
}
