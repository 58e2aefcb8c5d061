import KalijAddress
import KalijCore
import KalijStream

/// Establishes a session on an authenticated stream: supplies the negotiation with data from the database.
package struct SessionEstablishment {
    /// Actions are performed in the order of the list.
    package enum Action {
        case negotiate(Negotiation.Event)
        case commit(Step.Effects)
        /// A session is established under the address `jid`.
        case online(StreamManagement?, jid: String, isResumed: Bool)
        /// The session is lost, together with its stream.
        case reconnect
        /// The session that the logout was to end no longer exists.
        case abandonLogout
        case fail(any Error)
    }

    private let steps: SessionSteps
    private var logins: LoginSteps { LoginSteps(runner: steps.runner, account: steps.account) }
    private let withNewPassword: Bool

    /// - Parameter withNewPassword: whether the login uses a new password that the server has not confirmed yet.
    package init(_ steps: SessionSteps, withNewPassword: Bool) {
        (self.steps, self.withNewPassword) = (steps, withNewPassword)
    }

    /// - Parameter isLeaving: whether a session is established only to be ended.
    package mutating func handle(
        _ action: Negotiation.Action, _ reconnecting: inout ReconnectPolicy, isLeaving: Bool
    ) throws -> [Action] {
        switch action {
        case .plan: return try plan(&reconnecting, isLeaving: isLeaving)
        case .offered(let features):
            try steps.record(features)
            return []
        case .resumed(let count): return try resumed(count)
        case .resumeFailed(let count, _): return [.commit(try steps.resumeFailed(count))]
        case .connectAgain: return [isLeaving ? .abandonLogout : .reconnect]
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
        case .send, .startTLS, .restartParser: return []  // performed by the line
        case .learned: return []  // performed by the planner
        }
    }

    /// With a user-agent id the tag determines the resource. The tag must never change: Prosody 13 ends the previous session only
    /// for the same tag (XEP-0386 section 3.2).
    private static let tag = "kalij"

    /// Resumes a session if possible; otherwise binds. After two resumptions without a response a session counts as lost.
    private func plan(_ reconnecting: inout ReconnectPolicy, isLeaving: Bool) throws -> [Action] {
        // A process that was frozen in the meantime would take the session from the process that drives now.
        try steps.runner.checkFence()
        let session = try steps.load()
        // A server ends the previous session with the same resource, whether the client requested the resource or, with Bind 2,
        // the server generated it.
        let resource = session.jid.flatMap { JID.received($0).resource } ?? steps.account.resource
        let other = reconnecting.otherResource
        let bind = SessionPlan.Bind(
            resource: other.map { "\(Self.tag).\($0)" } ?? resource, tag: other.map { "\(Self.tag)-\($0)" } ?? Self.tag,
            carbons: true)
        let isLost = reconnecting.abandonsSession || session.unread.isLost(at: steps.runner.steadyNow)
        guard let id = session.resumeID, !isLost else {
            // Only a session that can be resumed can still be ended.
            if isLeaving { return [.abandonLogout] }
            var actions: [Action] = []
            if session.resumeID != nil {
                reconnecting.sessionAbandoned()
                actions.append(.commit(try steps.resumeFailed(nil)))
            }
            // The counters of tokens must not be reused after a power failure.
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
            // The server resumed a session other than the stored one: the session is discarded, so that the next connection binds
            // a new one.
            return [.commit(try steps.resumeFailed(nil, isMisfit: true)), .fail(error)]
        }
    }

    private func established(_ management: StreamManagement?, resumeID: String?) throws -> [Action] {
        let effects = try steps.established(resumeID: resumeID)
        return [.commit(effects), .online(management, jid: try steps.load().jid ?? "", isResumed: false)]
    }
}
