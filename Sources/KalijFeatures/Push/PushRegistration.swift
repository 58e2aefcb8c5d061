import KalijAddress
import KalijSteps
import KalijText

/// Whether an account's server pushes, and where to (XEP-0357).
public struct PushRegistration: Sendable, Equatable {
    /// `enabled` if the server has confirmed in the present session that it pushes; `enabling`, `disabling`, `waiting`
    /// for a session, `refused`, `off`.
    public let state: String
    /// The address of the push service; nil if no pushes are wanted.
    public let service: String?
    /// The node of the service.
    public let node: String?
    /// The service's module.
    public let module: String?
    /// When the server has confirmed, in milliseconds since 1970; nil if it has not in this session.
    public let confirmedAt: Int64?
    /// Why the server does not push, in words.
    public let problem: String?

    package init(_ row: PushRow) {
        state = row.state.stage.rawValue
        (service, node, module) = (row.state.wanted?.service, row.state.wanted?.node, row.state.wanted?.module)
        confirmedAt = row.state.stage == .enabled ? row.confirmedAt : nil
        problem = row.problem
    }

    /// The line for people.
    public var line: PrintedText {
        guard let service else { return "push: \(state)" }
        let why: PrintedText = problem.map { " (\($0))" } ?? ""
        return "push to \(service): \(state)\(why)"
    }
}

/// The server pushes from now on, or not any more.
public struct PushChanged: EventContent {
    public static let name = "push"
    public static let meaning = "Whether the account's server pushes has changed (XEP-0357)."
    public static let keys: [EventKey] = [.push, .service, .reason]
    /// What it is now.
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
    /// Whether the server pushes.
    public static let push = EventKey(
        "push",
        "`enabled` if the server has confirmed in this session that it pushes; `enabling`, `disabling`, `waiting` for a session, "
            + "`refused`, `off`")
    /// The address of a push service.
    public static let service = EventKey("service", "the address of the push service")
}
