import KalijAddress
import KalijXML

/// A former session resumed (XEP-0198, 5), or a new session bound (RFC 6120, 7) and enabled (XEP-0198, 3).
extension Negotiation {
    mutating func choose(_ element: Element) throws(NegotiationError) -> [Action] {
        guard let features = StreamFeatures(element) else { throw unexpected(element) }
        stage = .choosing(features, mayResume: true)
        return [.choose(features)]
    }

    // MARK: - Resuming

    mutating func resume(id: String, handled: HandledCount) throws(NegotiationError) -> [Action] {
        guard case .choosing(let features, mayResume: true) = stage else { throw misuse("a session cannot be resumed") }
        guard features.offersStreamManagement else {
            stage = .choosing(features, mayResume: false)
            return [.resumeFailed(handled: nil, condition: StanzaError.Condition.featureNotImplemented.rawValue)]
        }
        stage = .resuming(id: id, features)
        isResumePending = true
        return [.send(StreamManagement.resume(id: id, handled: handled))]
    }

    mutating func answeredResume(
        _ element: Element, id: String, _ features: StreamFeatures
    ) throws(NegotiationError) -> [Action] {
        if element.isNamed("failed", Namespace.streamManagement) {
            isResumePending = false
            stage = .choosing(features, mayResume: false)
            let handled = element["h"].flatMap(HandledCount.init(attribute:))
            return [.resumeFailed(handled: handled, condition: condition(in: element))]
        }
        guard element.isNamed("resumed", Namespace.streamManagement) else { throw unexpected(element) }
        guard element["previd"] == id else { throw .invalidAnswer("another session was resumed") }
        guard let handled = element["h"].flatMap(HandledCount.init(attribute:)) else {
            throw .invalidAnswer("<resumed/> has no count of stanzas")
        }
        isResumePending = false
        stage = .established
        return [.resumed(handled: handled), .established]
    }

    // MARK: - Binding

    /// The only iq of a negotiation; no other can be on the stream yet.
    private static let bindID = "bind"

    mutating func bind(resource: String?) throws(NegotiationError) -> [Action] {
        guard case .choosing(let features, _) = stage else { throw misuse("a resource cannot be bound") }
        guard features.offersBinding else { throw .invalidAnswer("the server offers no resource binding") }
        let bind = Element("bind", xmlns: Namespace.bind)
        if let resource { bind.add(Element("resource", xmlns: Namespace.bind, text: resource)) }
        let request = Element(
            "iq", xmlns: Namespace.client, attributes: ["type": "set", "id": Self.bindID], children: [bind])
        stage = .binding(features)
        return [.send(request.bytes(in: Namespace.client))]
    }

    mutating func answeredBind(_ element: Element, _ features: StreamFeatures) throws(NegotiationError) -> [Action] {
        guard element.isNamed("iq", Namespace.client), element["id"] == Self.bindID else { throw unexpected(element) }
        if let error = StanzaError(element) { throw .bind(error) }
        guard element["type"] == "result" else { throw unexpected(element) }
        guard let text = element.child("bind", Namespace.bind)?.child("jid", Namespace.bind)?.text else {
            throw .invalidAnswer("no address was bound")
        }
        let jid = JID.received(text)
        guard !jid.isBare else { throw .invalidAnswer("the address that was bound has no resource") }
        guard jid.bare == configuration.account.bare else { throw .boundElsewhere(jid) }
        if features.offersStreamManagement {
            stage = .bound
            return [.bound(jid)]
        }
        stage = .established
        return [.bound(jid), .established]
    }

    // MARK: - Enabling

    mutating func enable(resumable: Bool, maximum: Int?) throws(NegotiationError) -> [Action] {
        guard case .bound = stage else { throw misuse("stream management cannot be enabled") }
        stage = .enabling
        return [.send(StreamManagement.enable(resumable: resumable, maximum: maximum))]
    }

    /// Stanzas may arrive as soon as a resource is bound; stanzas before `<enabled/>` are not counted (XEP-0198, 4).
    mutating func uncounted(_ element: Element) throws(NegotiationError) -> [Action] {
        if StreamManagement.isStanza(element) { return [.stanza(element)] }
        guard case .enabling = stage else { throw unexpected(element) }
        if element.isNamed("failed", Namespace.streamManagement) {
            stage = .established
            return [.enableFailed(condition: condition(in: element)), .established]
        }
        guard element.isNamed("enabled", Namespace.streamManagement) else { throw unexpected(element) }
        stage = .established
        let resumes = element["resume"] == "true" || element["resume"] == "1"
        let id = element["id"].flatMap { $0.isEmpty ? nil : $0 }
        let maximum = element["max"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
        return [.enabled(id: resumes ? id : nil, maximum: maximum, location: element["location"]), .established]
    }

    private func condition(in failed: Element) -> String {
        let known = failed.children.first { $0.namespace == Namespace.stanzaErrors && $0.name != "text" }
        return known.map { String($0.name.prefix(60)) } ?? StanzaError.Condition.undefinedCondition.rawValue
    }
}
