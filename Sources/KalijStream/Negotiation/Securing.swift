import KalijXML

/// STARTTLS (RFC 6120, 5; RFC 7590) and SASL (RFC 6120, 6).
extension Negotiation {
    mutating func secure(_ element: Element) throws(NegotiationError) -> [Action] {
        guard let features = StreamFeatures(element) else { throw unexpected(element) }
        guard features.offersTLS else { throw .tlsNotOffered }
        stage = .requestingTLS
        return [.send(Element("starttls", xmlns: Namespace.startTLS).bytes(in: Namespace.client))]
    }

    mutating func answeredTLS(_ element: Element) throws(NegotiationError) -> [Action] {
        if element.isNamed("failure", Namespace.startTLS) { throw .tlsRefused }
        guard element.isNamed("proceed", Namespace.startTLS) else { throw unexpected(element) }
        stage = .securing
        return [.startTLS]
    }

    /// Without authentication the elements of the encrypted stream are the owner's.
    mutating func stay(_ element: Element) throws(NegotiationError) -> [Action] {
        guard let features = StreamFeatures(element) else { throw unexpected(element) }
        stage = .unauthenticated
        return [.unauthenticated(features)]
    }

    mutating func authenticate(_ element: Element) throws(NegotiationError) -> [Action] {
        guard let features = StreamFeatures(element) else { throw unexpected(element) }
        let authentication: Authentication
        do { authentication = try Authentication(configuration, offered: features.mechanisms) } catch {
            throw .authentication(error)
        }
        stage = .authenticating(authentication)
        return [.send(authentication.request)]
    }

    mutating func authenticating(
        _ authentication: Authentication, _ element: Element
    ) throws(NegotiationError) -> [Action] {
        if let error = SASLError(element) { throw .sasl(error) }
        var authentication = authentication
        do {
            if element.isNamed("challenge", Namespace.sasl) {
                let response = try authentication.answer(element.text)
                stage = .authenticating(authentication)
                return [.send(response)]
            }
            if element.isNamed("success", Namespace.sasl) {
                let keys = try authentication.finish(element.text)
                return [.authenticated(authentication.mechanism, keys: keys), .restartParser, open(.authenticated)]
            }
        } catch {
            throw .authentication(error)
        }
        throw unexpected(element)
    }
}
