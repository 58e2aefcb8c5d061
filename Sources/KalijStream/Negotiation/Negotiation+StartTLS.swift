import KalijXML

/// STARTTLS (RFC 6120, 5; RFC 7590).
extension Negotiation {
    static let startTLS = Element("starttls", xmlns: Namespace.startTLS).bytes(in: Namespace.client)

    mutating func secure(_ element: Element) throws(NegotiationError) -> [Action] {
        guard let features = StreamFeatures(element) else { throw unexpected(element) }
        guard features.offersTLS else { throw .tlsNotOffered }
        stage = .requestingTLS
        defer { hasRequestedTLS = true }
        return hasRequestedTLS ? [] : [.send(Self.startTLS)]
    }

    mutating func answeredTLS(_ element: Element) throws(NegotiationError) -> [Action] {
        if element.isNamed("failure", Namespace.startTLS) { throw .tlsRefused }
        guard element.isNamed("proceed", Namespace.startTLS) else { throw unexpected(element) }
        stage = .securing
        suspect = nil
        return [.startTLS]
    }

    /// Without authentication, the elements of the encrypted stream are passed to the owner.
    mutating func stay(_ element: Element) throws(NegotiationError) -> [Action] {
        guard let features = StreamFeatures(element) else { throw unexpected(element) }
        stage = .unauthenticated
        return [.unauthenticated(features)]
    }
}
