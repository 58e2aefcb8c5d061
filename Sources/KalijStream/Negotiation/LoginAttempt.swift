import KalijXML

/// A login in progress.
struct LoginAttempt: Sendable {
    /// The parameters of the login by the server's offer; with a token, the parameters of the fallback to the credentials.
    var choice: LoginMethod
    var authentication: Authentication
    /// The server's offer; nil until the features were received.
    var offer: SASLOffer?
    /// The features that can be set up together with the login.
    let inline: Set<InlineFeature>
    /// The mechanism of the requested token.
    let wantedToken: String?
    /// Whether the login was sent together with the header.
    var isEarly = false
    /// The features requested together with the login.
    var resume: SessionPlan.Resume?
    var bind: SessionPlan.Bind?

    /// The namespace of the profile.
    var namespace: String { choice.isSASL2 ? Namespace.sasl2 : Namespace.sasl }

    /// Takes over from the plan what can be set up together with the login. If the former session can be resumed only after the login,
    /// a binding with the login would terminate it.
    mutating func apply(_ plan: SessionPlan) {
        if inline.contains(.resume) { resume = plan.resume }
        if inline.contains(.bind), plan.resume == resume { bind = plan.bind }
    }

    /// Whether `feature` is requested with the binding (Bind 2).
    func requests(_ feature: InlineFeature, _ bind: SessionPlan.Bind) -> Bool {
        guard inline.contains(feature) else { return false }
        switch feature {
        case .enable: return true
        case .carbons: return bind.carbons
        case .clientState: return bind.isInactive
        case .resume, .bind: return false
        }
    }

    /// `<auth/>` or `<authenticate/>`.
    func request(_ configuration: Negotiation.Configuration) throws(AuthenticationError) -> [UInt8] {
        let message = try authentication.firstMessage()
        let attributes = ["mechanism": authentication.name]
        guard choice.isSASL2 else {
            return Element("auth", xmlns: Namespace.sasl, attributes: attributes, text: message).bytes(
                in: Namespace.client)
        }
        let request = Element("authenticate", xmlns: Namespace.sasl2, attributes: attributes)
        request.add(Element("initial-response", xmlns: Namespace.sasl2, text: message))
        if let id = configuration.userAgent {
            let agent = request.add(Element("user-agent", xmlns: Namespace.sasl2, attributes: ["id": id]))
            // For the server's list of clients. A pipelined login omits it: the server has received it before.
            if !isEarly { agent.add(Element("software", xmlns: Namespace.sasl2, text: configuration.software)) }
        }
        if let resume { request.add(StreamManagement.resume(resume)) }
        if let bind { request.add(element(of: bind)) }
        if let wantedToken {
            request.add(Element("request-token", xmlns: Namespace.fast, attributes: ["mechanism": wantedToken]))
        }
        if let token = authentication.token {
            var attributes = ["count": String(token.count)]
            if configuration.invalidatesToken { attributes["invalidate"] = "true" }
            request.add(Element("fast", xmlns: Namespace.fast, attributes: attributes))
        }
        return request.bytes(in: Namespace.client)
    }

    private func element(of bind: SessionPlan.Bind) -> Element {
        let element = Element("bind", xmlns: Namespace.bind2)
        element.add(Element("tag", xmlns: Namespace.bind2, text: bind.tag))
        if requests(.enable, bind) { element.add(StreamManagement.enable(maximum: bind.maximum)) }
        if requests(.carbons, bind) { element.add(Element("enable", xmlns: Namespace.carbons)) }
        if requests(.clientState, bind) { element.add(Element("inactive", xmlns: Namespace.clientState)) }
        return element
    }

    /// Compares a pipelined login with the features that were received afterwards.
    ///
    /// - Parameter best: the login that these features would lead to.
    /// - Throws: If the server does not offer what was used. No proof was sent in that case, except a token's, which is bound to the
    ///   connection.
    mutating func check(_ offer: SASLOffer, best: LoginMethod) throws(AuthenticationError) {
        guard requestedFeatures.isSubset(of: offer.inline), best.isSASL2 == choice.isSASL2 else { throw .offerChanged }
        if let token = authentication.token {
            if let descent = best.descent { throw descent }
            guard offer.fast.contains(token.mechanism) else { throw .offerChanged }
        } else if best != choice {
            throw .offerChanged
        }
        if let wantedToken, !offer.fast.contains(wantedToken) { throw .offerChanged }
        (self.offer, choice) = (offer, best)
    }

    private var requestedFeatures: Set<InlineFeature> {
        var asked: Set<InlineFeature> = resume == nil ? [] : [.resume]
        guard let bind else { return asked }
        asked.insert(.bind)
        for feature in InlineFeature.allCases where requests(feature, bind) { asked.insert(feature) }
        return asked
    }
}
