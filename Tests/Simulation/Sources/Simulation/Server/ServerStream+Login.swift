import KalijStream
import KalijXML

/// The way of a client into the server: TLS, login, session.
extension ServerStream {
    /// A login under way.
    struct Login {
        /// `<authenticate/>`; nil for SASL1.
        let request: Element?
        let mechanism: String
        var scram: SimulatedSCRAM?
        /// The token of the login.
        var token: Int?

        var namespace: String { request == nil ? "urn:ietf:params:xml:ns:xmpp-sasl" : "urn:xmpp:sasl:2" }
        var agent: String { request?.child("user-agent")?["id"] ?? "" }
    }

    private var habits: LoginProfile { server.profile.login }
    private var isProsody: Bool { server.profile.name.hasPrefix("Prosody") }

    /// Whether a step is to be handled; otherwise it came as a letter that the server does not take.
    func takes(_ letter: EarlyStep) -> Bool {
        guard link.letters.remove(letter) != nil, let reaction = server.login.reaction(to: letter) else { return true }
        server.login.failed(letter, on: link)
        switch reaction {
        case .ignored: isMute = true
        case .refused where letter == .login: refuse("malformed-request")
        case .refused where letter == .startTLS:
            send("<failure xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")
            close()
        case .refused, .ended: close("policy-violation")
        }
        return false
    }

    func startTLS() {
        guard phase == .plain, takes(.startTLS) else { return }
        send("<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")
        (phase, parser) = (.secured, StreamParser())
    }

    /// `<auth/>` or `<authenticate/>`.
    func authenticate(_ element: Element) {
        let isSASL2 = element.name == "authenticate"
        let text = isSASL2 ? element.child("initial-response")?.text ?? "" : element.text
        var login = Login(request: isSASL2 ? element : nil, mechanism: element["mechanism"] ?? "PLAIN")
        self.login = login
        guard phase == .secured else { return close("policy-violation") }
        // What is bound to the connection is of no use to a man in the middle.
        if offer.isForged, login.mechanism.hasSuffix("-PLUS") || login.mechanism.hasPrefix("HT-") { return close() }
        // `<failure/>` for a token would be the token's; and the client looks at forged features first.
        let isOfToken = login.mechanism.hasPrefix("HT-") && server.login.reaction(to: .login) == .refused
        if isOfToken || offer.isForged { link.letters.remove(.login) }
        let isLetter = link.letters.contains(.login)
        guard takes(.login) else { return }
        if isSASL2, offer.mechanisms2.isEmpty { return refuse("not-authorized") }
        if login.mechanism.hasPrefix("HT-") { return checkToken(text) }
        guard login.mechanism.hasPrefix("SCRAM-") else { return checkPassword(text) }
        guard (isSASL2 ? offer.mechanisms2 : offer.mechanisms).contains(login.mechanism) else {
            return refuse("invalid-mechanism")
        }
        login.scram = SimulatedSCRAM(
            login.mechanism, text, password: server.feature(SimulatedRegistration.self).password ?? "secret",
            nonce: server.newID("nonce"), exporter: link.exporter,
            hash: offer.hasHash ? (offer.isForged ? LoginOffer(server.profile) : offer).hashed(isSASL2: isSASL2) : nil)
        self.login = login
        guard let scram = login.scram else { return refuse("malformed-request") }
        // A letter is of what the server offered the last time; the flag is what has the server refuse it.
        if scram.flag == "y", offer.bindings != nil, !isLetter {
            server.login.fault("the client denies a binding that is offered")
        }
        // Prosody reads on: the next stream begins behind the proof. ejabberd throws away what came with the proof.
        if isProsody, !isSASL2, server.login.reaction(to: .resume) == nil {
            parser.expectRestart(after: "response", login.namespace)
        }
        send("<challenge xmlns='\(login.namespace)'>\(SimulatedSASL.text(scram.challenge))</challenge>")
    }

    private func checkPassword(_ text: String) {
        guard server.feature(SimulatedRegistration.self).accepts(text) else { return refuse("not-authorized") }
        if let login { server.login.proof(login.mechanism, isSASL2: login.request != nil, offer) }
        let user = SimulatedSASL.bytes(text).split(separator: 0).first.map { String(decoding: $0, as: UTF8.self) } ?? ""
        if server.hasStrangers, !server.account.hasPrefix(user + "@") { stranger = "\(user)@\(server.domain)" }
        succeed("")
    }

    private func checkToken(_ text: String) {
        guard var login else { return }
        // Prosody takes one token a connection.
        if isProsody, hasTriedToken { return refuse("malformed-request") }
        hasTriedToken = true
        let binding = login.mechanism.hasSuffix("-NONE") ? [] : link.exporter
        let found = server.login.tokens.find(SimulatedSASL.bytes(text), exporter: binding)
        guard let found, login.agent == server.login.tokens.all[found].agent, offer.fast.contains(login.mechanism),
            !server.login.tokens.all[found].isVoid,
            server.login.tokens.all[found].end > server.world.now
        else { return refuse("not-authorized") }
        // ejabberd takes a token without binding, too, that was made for a login with binding.
        if isProsody, login.mechanism != server.login.tokens.all[found].mechanism { return refuse("not-authorized") }
        if server.login.refusesToken() {
            if server.world.random.chance(50) { return refuse("temporary-auth-failure") }
            server.login.tokens.end(found)
            return refuse("not-authorized")
        }
        login.token = found
        self.login = login
        succeed(server.login.tokens.worked(found, exporter: binding))
    }

    private func refuse(_ condition: String) {
        let namespace = login?.namespace ?? "urn:ietf:params:xml:ns:xmpp-sasl"
        login = nil
        send(
            "<failure xmlns='\(namespace)'><\(condition) xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/></failure>")
    }

    /// `<response/>`.
    func respond(_ element: Element) {
        guard let login, let scram = login.scram else { return close("policy-violation") }
        server.login.proof(login.mechanism, isSASL2: login.request != nil, offer)
        guard let final = scram.finish(element.text) else { return refuse("not-authorized") }
        guard login.request == nil, link.letters.remove(.resume) != nil else {
            return succeed(SimulatedSASL.text(final))
        }
        let reaction = server.login.reaction(to: .resume)
        if isProsody, reaction == nil {
            hasReadOn = true
            return succeed(SimulatedSASL.text(final))
        }
        server.login.failed(.resume, on: link)
        succeed(SimulatedSASL.text(final))
        if let reaction, reaction != .ignored { close("not-well-formed") }
    }

    // MARK: After the login

    /// - Parameter data: the mechanism's last word, in Base64.
    private func succeed(_ data: String) {
        guard let login else { return }
        phase = .authenticated
        server.login.succeeded(offer)
        guard let request = login.request else {
            // What has come together with the login is not read, but where the next stream is read already.
            if !isProsody || login.scram == nil || server.login.reaction(to: .resume) != nil { parser = StreamParser() }
            return send("<success xmlns='\(login.namespace)'>\(data)</success>")
        }
        var parts: [String] = []
        let resume = request.child("resume", "urn:xmpp:sm:3")
        var resumption: SimulatedServer.Resumption?
        if let resume {
            // A client that knew better days cannot know that the server binds only.
            if !offer.resumesInline { server.disregard(resume) }
            if offer.resumesInline { resumption = server.resume(resume, on: self) }
        }
        switch resumption {
        case .closed(let condition): return close(condition)
        case .resumed(_, let answer), .failed(let answer): parts.append(answer)
        case nil: break
        }
        let wanted = request.child("request-token", "urn:xmpp:fast:0")?["mechanism"]
        if session == nil, offer.bindsInline, let bind = request.child("bind", "urn:xmpp:bind:0") {
            parts.append(self.bind(bind, login))
            session?.wantedToken = wanted
        }
        let identity = session.map { server.address($0) } ?? server.account
        parts.append("<authorization-identifier>\(identity)</authorization-identifier>")
        let proof = data.isEmpty ? "" : "<additional-data>\(data)</additional-data>"
        let token = token(login, wanted)
        parts = isProsody ? [proof] + parts.dropLast() + [token] + parts.suffix(1) : [token] + parts + [proof]
        send("<success xmlns='urn:xmpp:sasl:2'>\(parts.joined())</success>")
        if case .resumed(let session, _) = resumption { server.redeliver(session, on: self) }
        // ejabberd has no features behind a resumption; Prosody's come behind what is sent again.
        if session?.resumedAt == nil || isProsody { sendFeatures() }
    }

    private func token(_ login: Login, _ wanted: String?) -> String {
        // Prosody gives a token with every resumption of a session that was bound with a request.
        let unasked = isProsody && session?.resumedAt != nil ? session?.wantedToken : nil
        guard let mechanism = wanted ?? unasked, offer.fast.contains(mechanism) else { return "" }
        return server.login.token(for: login.agent, mechanism, presented: login.token)
    }

    /// Bind 2 (XEP-0386).
    private func bind(_ bind: Element, _ login: Login) -> String {
        let tag = bind.child("tag")?.text
        server.login.bound(tag: tag ?? "none")
        let resource = tag.map { "\($0)\(isProsody ? "~" : ".")\(login.agent.prefix(8))" } ?? server.newID("r")
        let session = server.begin(resource, on: self)
        var parts = ""
        if bind.child("enable", "urn:xmpp:sm:3") != nil { parts += enabled(session) }
        if bind.child("enable", "urn:xmpp:carbons:2") != nil {
            server.feature(SimulatedCarbons.self).enable(session)
            // ejabberd does not say so.
            if isProsody { parts += "<enabled xmlns='urn:xmpp:carbons:2'/>" }
        }
        return "<bound xmlns='urn:xmpp:bind:0'>\(parts)</bound>"
    }
}
