import KalijAddress
import KalijXML

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// `<success/>` of XEP-0388, with the features that were set up together with the login. The stream continues.
extension Negotiation {
    mutating func succeeded2(_ attempt: LoginAttempt, _ success: Element) throws(NegotiationError) -> [Action] {
        let login = try authenticated(attempt, success.child("additional-data", Namespace.sasl2)?.text ?? "")
        let identity = success.child("authorization-identifier", Namespace.sasl2).map { TrimmedText.text($0.text) }
        guard let identity else { throw .invalidAnswer("the login has no identity") }
        let jid = JID.received(identity)
        guard jid.bare == configuration.account.bare else { throw .authentication(.otherIdentity) }
        isResumePending = false
        // The token is the first action: it has to be stored before anything else is sent.
        let token = token(attempt, success).map { [Action.token($0)] } ?? []
        return token + login + (try session(attempt, success, jid))
    }

    /// The new token, if it was requested or replaces the token used.
    private func token(_ attempt: LoginAttempt, _ success: Element) -> FASTToken? {
        guard let element = success.child("token", Namespace.fast), let secret = element["token"], !secret.isEmpty,
            secret.utf8.count <= FASTToken.maxBytes,
            let mechanism = attempt.wantedToken ?? attempt.authentication.token?.mechanism
        else { return nil }
        let expiry = element["expiry"].flatMap { DateTime.date($0) }
            .flatMap { Int64(exactly: ($0.timeIntervalSince1970 * 1000).rounded()) }
        return FASTToken(mechanism: mechanism, secret: secret, expiry: expiry)
    }

    private mutating func session(
        _ attempt: LoginAttempt, _ success: Element, _ jid: JID
    ) throws(NegotiationError) -> [Action] {
        var actions: [Action] = []
        if let resume = attempt.resume {
            if let resumed = success.child("resumed", Namespace.streamManagement) {
                return try self.resumed(resumed, resume)
            }
            let failed = success.child("failed", Namespace.streamManagement)
            if failed != nil || success.child("bound", Namespace.bind2) != nil {
                mayResume = false
                actions = [resumeFailed(failed)]
            }
        }
        if let bind = attempt.bind {
            if let failed = success.child("failed", Namespace.bind2) {
                throw .bind(failed.child("error").map(StanzaError.init(error:)) ?? StanzaError(.undefinedCondition))
            }
            if let bound = success.child("bound", Namespace.bind2) {
                return actions + (try self.bound(attempt, bind, bound, jid))
            }
        }
        // No feature was set up: the session is negotiated by the features that follow.
        stage = .features(.authenticated)
        return actions
    }

    private mutating func bound(
        _ attempt: LoginAttempt, _ bind: SessionPlan.Bind, _ element: Element, _ jid: JID
    ) throws(NegotiationError) -> [Action] {
        guard !jid.isBare else { throw .invalidAnswer("the address that was bound has no resource") }
        // Enabling carbons cannot fail (XEP-0386 section 3.2).
        let bound = Action.bound(jid, carbons: attempt.requests(.carbons, bind))
        let answer = attempt.requests(.enable, bind) ? element.child(in: Namespace.streamManagement) : nil
        guard let answer, let actions = try answeredEnable(answer) else {
            stage = .bound(bind)
            return [bound]
        }
        return [bound] + actions
    }

    /// Handles the features after a binding without stream management: enables it, if offered.
    mutating func manage(_ element: Element, _ bind: SessionPlan.Bind) throws(NegotiationError) -> [Action] {
        guard let features = StreamFeatures(element) else { throw unexpected(element) }
        return [.offered(features)] + enable(features, bind)
    }
}
