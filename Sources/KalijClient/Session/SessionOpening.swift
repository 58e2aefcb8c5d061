import KalijSteps
import KalijStream

/// The way from an authenticated stream to a session: answers the negotiation's questions from the database.
struct SessionOpening {
    /// Actions are performed in the order of the list.
    enum Action {
        case negotiate(Negotiation.Event)
        case commit(Step.Effects)
        /// There is a session under the address `jid`.
        case online(StreamManagement?, jid: String, isResumed: Bool)
        /// The session that the logout wanted to end is not there.
        case giveUpLogout
        case fail(any Error)
    }

    private let steps: SessionSteps
    private let withNewPassword: Bool
    /// Whether the server offers stream management.
    private var managesStream = false

    /// - Parameter withNewPassword: whether the login uses a new password of which the server has not told that it counts.
    init(_ steps: SessionSteps, withNewPassword: Bool) { (self.steps, self.withNewPassword) = (steps, withNewPassword) }

    /// - Parameter isLeaving: whether a session is sought only to be ended.
    mutating func handle(
        _ action: Negotiation.Action, _ reconnecting: inout Reconnecting, isLeaving: Bool
    ) throws -> [Action] {
        switch action {
        case .choose(let features): return try choose(features, &reconnecting, isLeaving: isLeaving)
        case .resumed(let count): return try resumed(count)
        case .resumeFailed(let count, _):
            return [.commit(try steps.resumeFailed(count)), isLeaving ? .giveUpLogout : bind]
        case .bound(let jid):
            let enable = Action.negotiate(.enableStreamManagement(resumable: true, maximum: nil))
            return [.commit(try steps.bound(jid))] + (managesStream ? [enable] : [])
        case .stanza(let stanza): return [.commit(try steps.handle(stanza, count: nil))]
        case .enabled(let id, _, _): return try established(StreamManagement(), resumeID: id)
        case .established: return try established(nil, resumeID: nil)
        case .authenticated(_, let keys):
            return try steps.loggedIn(withNewPassword: withNewPassword, keys).map { [.commit($0)] } ?? []
        case .unauthenticated, .enableFailed: return []
        case .send, .startTLS, .restartParser: return []  // the line's
        }
    }

    private var bind: Action { .negotiate(.bind(resource: steps.account.resource)) }

    /// Resumes a session that can be resumed; else binds. After two resumptions without an answer a session counts as lost.
    private mutating func choose(
        _ features: StreamFeatures, _ reconnecting: inout Reconnecting, isLeaving: Bool
    ) throws -> [Action] {
        // A process that was frozen meanwhile would take the session from the process that drives now.
        try steps.runner.checkFence()
        managesStream = features.offersStreamManagement
        try steps.note(features)
        let session = try steps.load()
        // Only a session that can be resumed is there to be ended.
        if isLeaving, !managesStream || reconnecting.givesUpSession { return [.giveUpLogout] }
        guard let id = session.resumeID, managesStream else { return [bind] }
        guard !reconnecting.givesUpSession else {
            reconnecting.gaveUpSession()
            return [.commit(try steps.resumeFailed(nil)), bind]
        }
        try steps.runner.raiseBarrier()
        return [.negotiate(.resume(id: id, handled: session.handled))]
    }

    private func resumed(_ count: HandledCount) throws -> [Action] {
        do {
            let effects = try steps.resumed(count)
            let session = try steps.load()
            let management = StreamManagement(handled: session.handled, acknowledged: count)
            return [.commit(effects), .online(management, jid: session.jid ?? "", isResumed: true)]
        } catch let error as SessionError {
            // The server resumed a session that is not ours: give up the session, so that the next connection binds anew.
            return [.commit(try steps.resumeFailed(nil, isMisfit: true)), .fail(error)]
        }
    }

    private func established(_ management: StreamManagement?, resumeID: String?) throws -> [Action] {
        let effects = try steps.established(resumeID: resumeID)
        return [.commit(effects), .online(management, jid: try steps.load().jid ?? "", isResumed: false)]
    }
}
