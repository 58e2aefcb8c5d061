import KalijText

/// Whether the server publishes for the account (XEP-0357), as a value: takes what happens, and returns what to do.
///
/// A server pushes what a room says only from the session in which push was enabled, and to no other session; so push
/// is enabled again in each new session. A server may hold an earlier registration: that is disabled first, and the
/// answer awaited, because disabling may end the whole session's pushes (measured: ejabberd).
struct PushState: Equatable {
    enum Stage: String {
        /// Nothing is wanted.
        case off
        /// Waits for a session.
        case waiting
        /// The server was asked to forget an earlier registration.
        case disabling
        /// The server was asked to publish.
        case enabling
        /// The server has confirmed that it publishes.
        case enabled
        /// The server does not publish; the reason is known.
        case refused
    }

    var stage: Stage
    /// What the user wants; nil for no pushes.
    var wanted: PushTarget?
    /// What the server may hold.
    var known: PushTarget?
    /// How often the question of this stage was asked.
    var attempts: Int

    init(_ stage: Stage = .off, wanted: PushTarget? = nil, known: PushTarget? = nil, attempts: Int = 0) {
        (self.stage, self.wanted, self.known, self.attempts) = (stage, wanted, known, attempts)
    }

    enum Event: Equatable {
        /// The user wants pushes to this target, or none; `isOnline` if a session can be used.
        case wanted(PushTarget?, isOnline: Bool)
        /// A new session can be used.
        case sessionBegan
        /// The session has sent presence: a wish from between is still open.
        case available
        /// The session, and with it the server's readiness to push, is gone.
        case sessionLost
        /// The server has answered the question of this stage.
        case answered
        /// The server has answered the question of this stage with an error, in words.
        case refused(String)
        /// No answer has come.
        case unanswered
        /// A day has passed since the server has confirmed.
        case due
    }

    enum Action: Equatable {
        case enable(PushTarget)
        case disable(PushTarget)
        /// The server has confirmed what is wanted.
        case confirmed
        /// The server does not do what is wanted, for this reason.
        case failed(String)
        /// Ask again after a day.
        case again
    }

    private static let mostAttempts = 3

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .wanted(let target, let isOnline):
            if target == wanted, stage == .enabled { return [.confirmed] }
            wanted = target
            if isOnline { return begin() }
            // The server may still hold what it was told in an earlier session.
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
        return ask()
    }

    private mutating func ask() -> [Action] {
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
            return [.confirmed, .again]
        case .off, .waiting, .enabled, .refused: return []
        }
    }

    private mutating func refused(_ reason: String) -> [Action] {
        switch stage {
        // The server holds nothing of the kind.
        case .disabling: return answered()
        case .enabling:
            (stage, known) = (.refused, nil)
            return [.failed(reason)]
        case .off, .waiting, .enabled, .refused: return []
        }
    }

    private mutating func unanswered() -> [Action] {
        guard stage == .disabling || stage == .enabling else { return [] }
        guard attempts < Self.mostAttempts else {
            stage = .waiting
            return [.failed("the server does not answer; asked again in the next session")]
        }
        attempts += 1
        return ask()
    }
}

/// Where a server publishes (XEP-0357 section 5): a node of a push service, with the options that the service asks for.
struct PushTarget: Equatable {
    let service: String
    let node: String
    let module: String?
    let secret: String?

    static func == (left: PushTarget, right: PushTarget) -> Bool { left.texts == right.texts }

    private var texts: [ExactText?] { [service.exact, node.exact, module?.exact, secret?.exact] }

    /// Whether a server takes both for the same registration.
    func isSamePlace(as other: PushTarget) -> Bool {
        service.exact == other.service.exact && node.exact == other.node.exact
    }
}
