import KalijText

/// The registration for push (XEP-0357), as a value: takes events, and returns actions.
///
/// A server pushes messages of a room only for the session in which push was enabled, so push is enabled again in each new session. If
/// the server may have another registration, that is disabled first, and the response awaited, because disabling may end all pushes of
/// the session (measured: ejabberd).
struct PushState: Equatable {
    enum Stage: String {
        /// No registration is requested.
        case off
        /// Waiting for a session.
        case waiting
        /// A request to disable an earlier registration is pending.
        case disabling
        /// A request to enable push is pending.
        case enabling
        /// The server has confirmed the registration.
        case enabled
        /// The server has rejected the registration; the reason is stored.
        case refused
    }

    var stage: Stage
    /// The requested target; nil for no push.
    var wanted: PushTarget?
    /// The target that the server may have registered.
    var known: PushTarget?
    /// The number of attempts of the stage's request.
    var attempts: Int

    init(_ stage: Stage = .off, wanted: PushTarget? = nil, known: PushTarget? = nil, attempts: Int = 0) {
        (self.stage, self.wanted, self.known, self.attempts) = (stage, wanted, known, attempts)
    }

    enum Event: Equatable {
        /// The user requests push to this target, or none; `isOnline` if a session is available.
        case requested(PushTarget?, isOnline: Bool)
        /// A new session is available.
        case sessionBegan
        /// The session has sent presence: a request made in between is still outstanding.
        case available
        /// The session is lost, and the registration with it.
        case sessionLost
        /// The request of the stage has succeeded.
        case answered
        /// The request of the stage was rejected, for this reason.
        case refused(String)
        /// The response timed out.
        case unanswered
        /// A day has elapsed since the confirmation.
        case due
    }

    enum Action: Equatable {
        case enable(PushTarget)
        case disable(PushTarget)
        /// The server has confirmed the requested state.
        case confirmed
        /// The server has rejected the requested state, for this reason.
        case failed(String)
        /// Repeat the request after a day.
        case retryLater
    }

    private static let maxAttempts = 3

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .requested(let target, let isOnline):
            if target == wanted, stage == .enabled { return [.confirmed] }
            wanted = target
            if isOnline { return begin() }
            // The server may still have a registration of an earlier session.
            stage = target == nil && known == nil ? .off : .waiting
            return stage == .off ? [.confirmed] : []
        case .sessionBegan: return wanted == nil && known == nil ? [] : begin()
        case .available: return stage == .waiting ? begin() : []
        case .sessionLost:
            if stage != .off { stage = .waiting }
            return []
        case .answered: return answered()
        case .refused(let reason): return refused(reason)
        case .unanswered: return unanswered()
        case .due: return stage == .enabled ? begin() : []
        }
    }

    private mutating func begin() -> [Action] {
        attempts = 1
        return request()
    }

    private mutating func request() -> [Action] {
        if let known, wanted.map({ !$0.isSamePlace(as: known) }) ?? true {
            stage = .disabling
            return [.disable(known)]
        }
        guard let wanted else {
            stage = .off
            return [.confirmed]
        }
        (stage, known) = (.enabling, wanted)
        return [.enable(wanted)]
    }

    private mutating func answered() -> [Action] {
        switch stage {
        case .disabling:
            known = nil
            return begin()
        case .enabling:
            stage = .enabled
            return [.confirmed, .retryLater]
        case .off, .waiting, .enabled, .refused: return []
        }
    }

    private mutating func refused(_ reason: String) -> [Action] {
        switch stage {
        // The server has no such registration.
        case .disabling: return answered()
        case .enabling:
            (stage, known) = (.refused, nil)
            return [.failed(reason)]
        case .off, .waiting, .enabled, .refused: return []
        }
    }

    private mutating func unanswered() -> [Action] {
        guard stage == .disabling || stage == .enabling else { return [] }
        guard attempts < Self.maxAttempts else {
            stage = .waiting
            return [.failed("the server does not answer; asked again in the next session")]
        }
        attempts += 1
        return request()
    }
}

/// The target of pushes (XEP-0357 section 5): a node of a push service, with the options that the service requires.
struct PushTarget: Equatable {
    let service: String
    let node: String
    let module: String?
    let secret: String?

    static func == (left: PushTarget, right: PushTarget) -> Bool { left.texts == right.texts }

    private var texts: [ExactText?] { [service.exact, node.exact, module?.exact, secret?.exact] }

    /// Whether both are the same registration for a server.
    func isSamePlace(as other: PushTarget) -> Bool {
        service.exact == other.service.exact && node.exact == other.node.exact
    }
}
