import KalijAddress
import KalijSteps
import KalijStream

/// The way from an authenticated stream to a session: answers the negotiation's questions from the database.
struct SessionEstablishment {
    /// Actions are performed in the order of the list.
    enum Action {
        case negotiate(Negotiation.Event)
        case commit(Step.Effects)
        /// There is a session under the address `jid`.
        case online(StreamManagement?, jid: String, isResumed: Bool)
        /// The session is lost, and its stream with it.
        case connectAgain
        /// The session that the logout wanted to end is not there.
        case giveUpLogout
        case fail(any Error)
    }

    private let steps: SessionSteps
    private var logins: LoginSteps { LoginSteps(runner: steps.runner, account: steps.account) }
    private let withNewPassword: Bool

    /// - Parameter withNewPassword: whether the login uses a new password of which the server has not told that it counts.
    init(_ steps: SessionSteps, withNewPassword: Bool) { (self.steps, self.withNewPassword) = (steps, withNewPassword) }

    /// - Parameter isLeaving: whether a session is sought only to be ended.
    mutating func handle(
        _ action: Negotiation.Action, _ reconnecting: inout ReconnectPolicy, isLeaving: Bool
    ) throws -> [Action] {
        switch action {
        case .plan: return try plan(&reconnecting, isLeaving: isLeaving)
        case .offered(let features):
            try steps.note(features)
            return []
        case .resumed(let count): return try resumed(count)
        case .resumeFailed(let count, _): return [.commit(try steps.resumeFailed(count))]
        case .connectAgain: return [isLeaving ? .giveUpLogout : .connectAgain]
        case .bound(let jid, let carbons): return [.commit(try steps.bound(jid, carbons: carbons))]
        case .stanza(let stanza): return [.commit(try steps.handle(stanza, count: nil))]
        case .enabled(let id, _, _): return try established(StreamManagement(), resumeID: id)
        case .established: return try established(nil, resumeID: nil)
        case .authenticated(let login):
            return try steps.loggedIn(withNewPassword: withNewPassword, login).map { [.commit($0)] } ?? []
        case .token(let token):
            try logins.store(token)
            return []
        case .tokenRefused(let token):
            try logins.refused(token)
            return []
        case .unauthenticated, .enableFailed: return []
        case .send, .startTLS, .restartParser: return []  // the line's
        case .learned: return []  // the approach's
        }
    }

    /// With the name of the directory's client the tag decides the resource. Never to be changed: Prosody 13 ends the session before
    /// only for the same tag (XEP-0386 section 3.2).
    private static let tag = "kalij"

    /// Resumes a session that can be resumed; else binds. After two resumptions without an answer a session counts as lost.
    private func plan(_ reconnecting: inout ReconnectPolicy, isLeaving: Bool) throws -> [Action] {
        // A process that was frozen meanwhile would take the session from the process that drives now.
        try steps.runner.checkFence()
        let session = try steps.load()
        // A server ends the session before for the same resource, be the resource given by us or, by Bind 2, by the server.
        let resource = session.jid.flatMap { JID.received($0).resource } ?? steps.account.resource
        let other = reconnecting.otherResource
        let bind = SessionPlan.Bind(
            resource: other.map { "\(Self.tag).\($0)" } ?? resource, tag: other.map { "\(Self.tag)-\($0)" } ?? Self.tag,
            carbons: true)
        let isLost = reconnecting.givesUpSession || session.unread.isLost(at: steps.runner.steadyNow)
        guard let id = session.resumeID, !isLost else {
            // Only a session that can be resumed is there to be ended.
            if isLeaving { return [.giveUpLogout] }
            var actions: [Action] = []
            if session.resumeID != nil {
                reconnecting.gaveUpSession()
                actions.append(.commit(try steps.resumeFailed(nil)))
            }
            // The counts of tokens are not to be used again after a power failure.
            try steps.runner.raiseBarrier()
            return actions + [.negotiate(.planned(SessionPlan(bind: isLeaving ? nil : bind)))]
        }
        try steps.runner.raiseBarrier()
        let resume = SessionPlan.Resume(id: id, handled: session.handled)
        return [.negotiate(.planned(SessionPlan(resume: resume, bind: isLeaving ? nil : bind)))]
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
