import KalijAddress
import KalijText
import KalijXML

/// A former session resumed (XEP-0198, 5), or a new session bound (RFC 6120, 7) and enabled (XEP-0198, 3).
extension Negotiation {
    mutating func chooseSession(_ element: Element) throws(NegotiationError) -> [Action] {
        guard let features = StreamFeatures(element) else { throw unexpected(element) }
        if let resume = resumeInFlight {
            stage = .resuming(resume, features)
            return [.offered(features)]
        }
        stage = .planning(.session(features))
        return [.offered(features), .plan]
    }

    // MARK: - Plans

    mutating func planned(_ plan: SessionPlan) throws(NegotiationError) -> [Action] {
        guard case .planning(let planning) = stage else { throw misuse("no plan was asked for") }
        switch planning {
        case .login(var attempt):
            attempt.apply(plan)
            return try sendLogin(attempt)
        case .response(let attempt, let response):
            guard let resume = plan.resume else {
                stage = .authenticating(attempt)
                return [.send(response)]
            }
            resumeInFlight = resume
            suspect = .resume
            // A second XML declaration would be an error in the stream that the server is still parsing.
            let header = open(.authenticated, isDeclared: false)
            stage = .authenticating(attempt)
            let tried = known.worked.contains(.resume) ? [] : learn { $0.trials += 1 }
            return tried + [.send(response + header + StreamManagement.resume(resume).bytes(in: Namespace.client))]
        case .stream:
            guard let resume = plan.resume else { return [.send(open(.authenticated))] }
            resumeInFlight = resume
            suspect = .session
            return [
                .send(
                    open(.authenticated, isDeclared: false)
                        + StreamManagement.resume(resume).bytes(in: Namespace.client))
            ]
        case .session(let features):
            if let resume = plan.resume { return try self.resume(resume, features) }
            guard let bind = plan.bind else {
                stage = .unwanted
                return []
            }
            return try self.bind(bind, features)
        }
    }

    // MARK: - Resuming

    private mutating func resume(
        _ resume: SessionPlan.Resume, _ features: StreamFeatures
    ) throws(NegotiationError) -> [Action] {
        guard mayResume else { throw misuse("a session cannot be resumed") }
        mayResume = false
        guard features.offersStreamManagement else {
            stage = .planning(.session(features))
            return [
                .resumeFailed(handled: nil, condition: StanzaError.Condition.featureNotImplemented.rawValue), .plan,
            ]
        }
        stage = .resuming(resume, features)
        isResumePending = true
        return [.send(StreamManagement.resume(resume).bytes(in: Namespace.client))]
    }

    mutating func answeredResume(
        _ element: Element, _ resume: SessionPlan.Resume, _ features: StreamFeatures
    ) throws(NegotiationError) -> [Action] {
        if element.isNamed("failed", Namespace.streamManagement) {
            // Only what was pipelined with the response was read by the parser of the previous stream.
            let isSpent = suspect == .resume
            let learned = letterHasWorked()
            (isResumePending, mayResume) = (false, false)
            guard !isSpent else {
                stage = .over
                return learned + [resumeFailed(element), .connectAgain]
            }
            stage = .planning(.session(features))
            return learned + [resumeFailed(element), .plan]
        }
        guard element.isNamed("resumed", Namespace.streamManagement) else { throw unexpected(element) }
        let learned = letterHasWorked()
        return learned + (try resumed(element, resume))
    }

    /// Records that the server has processed the pipelined step.
    private mutating func letterHasWorked() -> [Action] {
        guard resumeInFlight != nil, let letter = suspect else { return [] }
        resumeInFlight = nil
        suspect = nil
        return learn { $0.worked.insert(letter) }
    }

    mutating func resumed(_ element: Element, _ resume: SessionPlan.Resume) throws(NegotiationError) -> [Action] {
        guard element["previd"] == resume.id else { throw .invalidAnswer("another session was resumed") }
        guard let handled = element["h"].flatMap(HandledCount.init(attribute:)) else {
            throw .invalidAnswer("<resumed/> has no count of stanzas")
        }
        isResumePending = false
        stage = .established
        return [.resumed(handled: handled), .established]
    }

    /// - Parameter failed: the server's response; nil if there is none.
    func resumeFailed(_ failed: Element?) -> Action {
        .resumeFailed(
            handled: failed?["h"].flatMap(HandledCount.init(attribute:)),
            condition: failed.map(condition) ?? StanzaError.Condition.undefinedCondition.rawValue)
    }

    // MARK: - Binding

    /// The id of the only iq of a negotiation; no other can be pending yet.
    private static let bindID = "bind"

    private mutating func bind(_ plan: SessionPlan.Bind, _ features: StreamFeatures) throws(NegotiationError)
        -> [Action]
    {
        guard features.offersBinding else { throw .invalidAnswer("the server offers no resource binding") }
        let bind = Element("bind", xmlns: Namespace.bind)
        if let resource = plan.resource { bind.add(Element("resource", xmlns: Namespace.bind, text: resource)) }
        let request = Element(
            "iq", xmlns: Namespace.client, attributes: ["type": "set", "id": Self.bindID], children: [bind])
        stage = .binding(features, plan)
        return [.send(request.bytes(in: Namespace.client))]
    }

    mutating func answeredBind(
        _ element: Element, _ features: StreamFeatures, _ bind: SessionPlan.Bind
    ) throws(NegotiationError) -> [Action] {
        guard element.isNamed("iq", Namespace.client), element["id"] == Self.bindID else { throw unexpected(element) }
        if let error = StanzaError(element) {
            guard error.condition == .conflict, bind.resource != nil else { throw .bind(error) }
            // Another session has the resource, and keeps it: the server chooses another (RFC 6120 section 7.7.2.2).
            var other = bind
            other.resource = nil
            return try self.bind(other, features)
        }
        guard element["type"] == "result" else { throw unexpected(element) }
        guard let text = element.child("bind", Namespace.bind)?.child("jid", Namespace.bind)?.text else {
            throw .invalidAnswer("no address was bound")
        }
        let jid = JID.received(text)
        guard !jid.isBare else { throw .invalidAnswer("the address that was bound has no resource") }
        guard jid.bare == configuration.account.bare else { throw .boundElsewhere(jid) }
        return [.bound(jid, carbons: false)] + enable(features, bind)
    }

    // MARK: - Enabling

    /// Enables stream management for the new session, if the server offers it.
    mutating func enable(_ features: StreamFeatures, _ bind: SessionPlan.Bind) -> [Action] {
        guard features.offersStreamManagement else {
            stage = .established
            return [.established]
        }
        stage = .enabling
        return [.send(StreamManagement.enable(maximum: bind.maximum).bytes(in: Namespace.client))]
    }

    /// Handles an element between binding and `<enabled/>`. Stanzas may arrive as soon as a resource is bound; they are not counted
    /// (XEP-0198, 4).
    mutating func uncounted(_ element: Element) throws(NegotiationError) -> [Action] {
        if element.isStanza { return [.stanza(element)] }
        guard case .enabling = stage else { throw unexpected(element) }
        guard let actions = try answeredEnable(element) else { throw unexpected(element) }
        return actions
    }

    /// Nil if the element is not a response to `<enable/>`.
    mutating func answeredEnable(_ element: Element) throws(NegotiationError) -> [Action]? {
        if element.isNamed("failed", Namespace.streamManagement) {
            stage = .established
            return [.enableFailed(condition: condition(in: element)), .established]
        }
        guard element.isNamed("enabled", Namespace.streamManagement) else { return nil }
        stage = .established
        let resumes = element["resume"] == "true" || element["resume"] == "1"
        let id = element["id"].flatMap { $0.isEmpty ? nil : $0 }
        let maximum = element["max"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
        return [.enabled(id: resumes ? id : nil, maximum: maximum, location: element["location"]), .established]
    }

    /// The condition of a failure. Prosody's modules for XEP-0388 wrap it in `<error/>`.
    private func condition(in failed: Element) -> String {
        let places = failed.children + (failed.child("error")?.children ?? [])
        let known = places.first { $0.namespace == Namespace.stanzaErrors && $0.name != "text" }
        return known.map { $0.name.cut(to: 60) } ?? StanzaError.Condition.undefinedCondition.rawValue
    }
}
