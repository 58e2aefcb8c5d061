import KalijXML

/// SASL (RFC 6120, 6) and SASL2 (XEP-0388).
extension Negotiation {
    // MARK: - Beginning

    /// Begins inside TLS: sends the header, with the login if it can be pipelined.
    mutating func beginSecured(_ bindings: ChannelBindings) throws(NegotiationError) -> [Action] {
        self.bindings = bindings
        guard let attempt = earlyLogin() else { return [.send(open(.secured))] }
        if attempt.choice.isSASL2 {
            stage = .planning(.login(attempt))
            return [.plan]
        }
        return try sendLogin(attempt)
    }

    /// A login with the parameters of the last one, if it can be sent before the server's features are received. PLAIN discloses the
    /// password to the recipient, and is never pipelined.
    private func earlyLogin() -> LoginAttempt? {
        guard configuration.authenticates, let login = known.login, !known.off.contains(.login) else { return nil }
        guard configuration.pins.hold(login.choice), configuration.userAgent != nil || !login.isSASL2 else {
            return nil
        }
        if let kind = login.binding, bindings[kind] == nil { return nil }
        if case .keys(let keys) = configuration.credentials, keys.mechanism != login.mechanism { return nil }
        guard
            var attempt = try? attempt(
                login.choice, fast: login.fast, inline: login.isSASL2 ? login.inline : [], offer: nil)
        else { return nil }
        guard attempt.authentication.token != nil || attempt.authentication.isSCRAM else { return nil }
        attempt.isEarly = true
        return attempt
    }

    /// Handles the server's features.
    mutating func chooseLogin(_ element: Element) throws(NegotiationError) -> [Action] {
        guard let features = StreamFeatures(element) else { throw unexpected(element) }
        guard var attempt = flight else { return try loginBySteps(features.login) }
        flight = nil
        do {
            try attempt.check(features.login, best: LoginMethod(features.login, configuration, bindings))
        } catch { throw .authentication(error) }
        stage = .authenticating(attempt)
        return []
    }

    /// Begins the best login that the server offers.
    private mutating func loginBySteps(_ offer: SASLOffer) throws(NegotiationError) -> [Action] {
        let attempt: LoginAttempt
        do {
            let choice = try LoginMethod(offer, configuration, bindings)
            attempt = try self.attempt(
                choice, fast: offer.fast, inline: choice.isSASL2 ? offer.inline : [], offer: offer)
        } catch { throw .authentication(error) }
        if attempt.choice.isSASL2 {
            stage = .planning(.login(attempt))
            return [.plan]
        }
        return try sendLogin(attempt)
    }

    /// Uses a token if there is one, else the credentials.
    private func attempt(
        _ choice: LoginMethod, fast: [String], inline: Set<InlineFeature>, offer: SASLOffer?
    ) throws(AuthenticationError) -> LoginAttempt {
        let token = choice.isSASL2 && choice.descent == nil ? usableToken(fast) : nil
        let authentication: Authentication
        // The password is not disclosed for the invalidation of a token.
        guard token != nil || !configuration.invalidatesToken else { throw .offerChanged }
        if let token {
            authentication = Authentication(token)
        } else {
            authentication = try Authentication(choice, configuration, bindings)
        }
        return LoginAttempt(
            choice: choice, authentication: authentication, offer: offer, inline: inline,
            wantedToken: choice.isSASL2 && shouldRequestToken(fast) ? HashedToken.requestedMechanism : nil)
    }

    private func usableToken(_ fast: [String]) -> HashedToken? {
        for token in tokens where token.isValid(at: configuration.now) && fast.contains(token.mechanism) {
            let username = configuration.account.local ?? ""
            if let found = HashedToken(token, username: username, bindings: bindings) { return found }
        }
        return nil
    }

    /// Whether to request a token: none is valid for another week.
    private func shouldRequestToken(_ fast: [String]) -> Bool {
        guard configuration.requestsToken, bindings[.tlsExporter] != nil, fast.contains(HashedToken.requestedMechanism)
        else {
            return false
        }
        let later = configuration.now.addingReportingOverflow(Self.renewal).partialValue
        return !tokens.contains { $0.mechanism == HashedToken.requestedMechanism && $0.isValid(at: later) }
    }

    /// A new token is requested this long before the expiry of the present one, in milliseconds.
    private static let renewal: Int64 = 7 * 24 * 3600 * 1000

    /// Sends the login, together with the header if it is pipelined.
    mutating func sendLogin(_ attempt: LoginAttempt) throws(NegotiationError) -> [Action] {
        let request: [UInt8]
        do { request = try attempt.request(configuration) } catch { throw .authentication(error) }
        guard attempt.isEarly else {
            // The proof of PLAIN and of a token is sent now.
            isResumePending = attempt.resume != nil && attempt.authentication.hasAnswered
            stage = .authenticating(attempt)
            return [.send(request)]
        }
        flight = attempt
        suspect = .login
        return [.send(open(.secured, isDeclared: false) + request)]
    }

    // MARK: - Responses

    mutating func authenticating(_ attempt: LoginAttempt, _ element: Element) throws(NegotiationError) -> [Action] {
        guard element.namespace == attempt.namespace else { throw unexpected(element) }
        if let error = SASLError(element) {
            isResumePending = false
            guard let token = attempt.authentication.token, let offer = attempt.offer else { throw .sasl(error) }
            return try tokenFailed(token, error, offer)
        }
        switch element.name {
        case "challenge": return try challenged(attempt, element.text)
        case "success":
            return attempt.choice.isSASL2 ? try succeeded2(attempt, element) : try succeeded(attempt, element)
        case "continue" where attempt.choice.isSASL2: throw .authentication(.furtherTasks)
        default: throw unexpected(element)
        }
    }

    /// Continues the login with the next token, or with the credentials.
    private mutating func tokenFailed(
        _ token: FASTToken, _ error: SASLError, _ offer: SASLOffer
    ) throws(NegotiationError) -> [Action] {
        if error.condition == .accountDisabled { throw .sasl(error) }
        suspect = nil
        tokens.removeAll { $0 == token }
        // Prosody accepts one token for each connection, and rejects the second as malformed.
        let isKept = error.isTemporary || (hasTriedToken && error.condition == .malformedRequest)
        hasTriedToken = true
        return (isKept ? [] : [.tokenRefused(token)]) + (try loginBySteps(offer))
    }

    private mutating func challenged(_ attempt: LoginAttempt, _ challenge: String) throws(NegotiationError) -> [Action]
    {
        var attempt = attempt
        let isFirst = !attempt.authentication.hasAnswered
        guard let offer = attempt.offer else { throw misuse("a challenge before the features") }
        // The client has begun the next stream: no further message of the exchange is valid.
        guard isFirst || resumeInFlight == nil else {
            throw .invalidAnswer("a challenge after the end of the exchange")
        }
        let answer: String
        do {
            answer = try attempt.authentication.answer(
                challenge, lists: offer.protected(isSASL2: attempt.choice.isSASL2))
        } catch { throw .authentication(error) }
        suspect = nil
        let response = Element("response", xmlns: attempt.namespace, text: answer).bytes(in: Namespace.client)
        if isFirst, mayFlyResume(attempt) {
            stage = .planning(.response(attempt, response))
            return [.plan]
        }
        isResumePending = attempt.resume != nil
        stage = .authenticating(attempt)
        return [.send(response)]
    }

    /// Whether `<resume/>` may be sent with the response: at a server where that has succeeded, or has not been tried too often.
    private func mayFlyResume(_ attempt: LoginAttempt) -> Bool {
        guard !attempt.choice.isSASL2, let login = known.login, !login.isSASL2 else { return false }
        return known.worked.contains(.resume)
            || (!known.off.contains(.resume) && known.trials < KnownServer.maxTrials)
    }

    /// Handles `<success/>` of RFC 6120: a new stream begins.
    private mutating func succeeded(_ attempt: LoginAttempt, _ element: Element) throws(NegotiationError) -> [Action] {
        let isKnown = known.login != nil
        let actions = try authenticated(attempt, element.text)
        if resumeInFlight != nil {
            stage = .header(.authenticated)
            return actions + [.restartParser(keepingRest: true)]
        }
        if isKnown, !known.off.contains(.session) {
            stage = .planning(.stream)
            return actions + [.restartParser(keepingRest: true), .plan]
        }
        return actions + [.restartParser(keepingRest: true), .send(open(.authenticated))]
    }

    /// Whether the server has most likely discarded what was pipelined with the response: `<success/>` was received, and no stream
    /// header. The header and `<resume/>` can then be sent again (measured: ejabberd 23.01 and 24.12, 40 times of 40 each).
    public var isRescuable: Bool {
        guard case .header(.authenticated) = stage else { return false }
        // Where the step has succeeded before, the server's header is only late: a second header would arrive inside the stream.
        return suspect == .resume && !known.worked.contains(.resume)
    }

    mutating func rescue() throws(NegotiationError) -> [Action] {
        guard isRescuable, let resume = resumeInFlight else { throw .silent(during: stage.description) }
        let learned = learn { $0 = $0.turningOff(.resume) }
        guard !known.off.contains(.session) else {
            // In single steps: the session is planned again after the features.
            (resumeInFlight, suspect) = (nil, nil)
            return learned + [.send(open(.authenticated))]
        }
        suspect = .session
        return learned + [.send(open(.authenticated) + StreamManagement.resume(resume).bytes(in: Namespace.client))]
    }

    /// Verifies the server's proof, and returns the actions for the successful login.
    mutating func authenticated(_ attempt: LoginAttempt, _ data: String) throws(NegotiationError) -> [Action] {
        var attempt = attempt
        do { try attempt.authentication.finish(data) } catch { throw .authentication(error) }
        if resumeInFlight == nil { suspect = nil }
        let (choice, token) = (attempt.choice, attempt.authentication.token)
        var pins = configuration.pins
        if token != nil {
            pins.isSASL2 = true
        } else {
            pins = pins.after(choice, isListGenuine: attempt.authentication.isListGenuine)
        }
        let usedTLS = hasRequestedTLS
        let learned = learn { known in
            if usedTLS { known.offersTLS = true }
            if let offer = attempt.offer { known.record(choice, offer) }
        }
        let success = SuccessfulAuthentication(
            mechanism: token == nil ? choice.mechanism : nil, keys: attempt.authentication.keys, pins: pins,
            usedToken: token)
        return [.authenticated(success)] + learned
    }
}
