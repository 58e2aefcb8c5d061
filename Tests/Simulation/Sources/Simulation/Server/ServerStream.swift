import KalijXML

/// The server's end of a connection: negotiation far enough, and then stanzas.
final class ServerStream {
    unowned let server: SimulatedServer
    let link: Link
    var parser = StreamParser()
    var phase = Phase.secured
    /// What was offered for the login.
    var offer = LoginOffer()
    var login: Login?
    var hasTriedToken = false
    /// Whether nothing is handled any more, and nobody is told.
    var isMute = false
    /// Whether the client has gone on after its login, and then in its session.
    private var (isConfirmed, hasSpoken) = (false, false)
    /// The bare address of a stranger, if another address than the account has logged in.
    var stranger: String?
    private(set) var isOver = false
    /// Whether the next stream has come together with the login, and was read by the parser before; and whether nothing more can be read.
    var (hasReadOn, isDeaf) = (false, false)
    var session: ServerSession?
    private var isRequested = false
    private var outgoing = ""
    private var isFlushPlanned = false

    enum Phase { case plain, secured, authenticated }

    init(_ server: SimulatedServer, _ link: Link) {
        self.server = server
        self.link = link
        if server.profile.login.startsTLS { phase = .plain }
        link.onServer = { [weak self] in self?.arrived($0) }
    }

    // MARK: Bytes

    func send(_ text: String) {
        guard !isOver else { return }
        outgoing += text
        guard !isFlushPlanned else { return }
        isFlushPlanned = true
        server.world.after(50) { [weak self] in
            self?.isFlushPlanned = false
            self?.flush()
        }
    }

    private func flush() {
        guard !outgoing.isEmpty else { return }
        server.world.trace("S: \(outgoing)")
        link.send(Array(outgoing.utf8), from: .server)
        outgoing = ""
    }

    private func arrived(_ arrival: Link.Arrival) {
        guard !isOver else { return }
        switch arrival {
        case .bytes(let bytes):
            do {
                var events: [StreamParserEvent] = []
                let current = parser
                try bytes.withUnsafeBytes { try parser.feed($0) { events.append($0) } }
                for event in events where parser === current && !isOver { handle(event) }
            } catch {
                server.world.trace("   the server cannot read that: \(error)")
                close("not-well-formed")
            }
        case .end, .reset: lost()
        }
    }

    /// The connection has ended without the stream: the session goes on alone.
    func lost() {
        guard !isOver else { return }
        isOver = true
        server.hibernate(self)
        link.end(from: .server)
    }

    /// Ends the stream, and says why.
    func close(_ condition: String? = nil) {
        guard !isOver else { return }
        if let condition {
            send("<stream:error><\(condition) xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>")
        }
        send("</stream:stream>")
        flush()
        isOver = true
        server.hibernate(self)
        link.end(from: .server)
    }

    /// From now on whatever the client writes here goes nowhere, and nobody says so.
    func abandon() {
        session = nil
    }

    // MARK: Elements

    private func handle(_ event: StreamParserEvent) {
        switch event {
        case .opened(let header): if !isMute { open(header) }
        case .element(let element): handle(element)
        case .closed:
            // In order: the session ends with the stream.
            if let session { server.end(session, inOrder: true) }
            session = nil
            close()
        case .skipped: break
        }
    }

    private func open(_ header: Element) {
        if phase == .secured { offer = server.login.offer(hasFrom: header["from"] != nil) }
        send(
            """
            <?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' \
            id='\(server.newID("s"))' from='\(server.domain)' version='1.0'>
            """)
        sendFeatures()
    }

    func sendFeatures() {
        let features =
            switch phase {
            case .plain: "<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'><required/></starttls>"
            case .secured: offer.features
            case .authenticated:
                """
                <bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/><sm xmlns='urn:xmpp:sm:3'/>\
                <ver xmlns='urn:xmpp:features:rosterver'/><csi xmlns='urn:xmpp:csi:0'/>
                """
            }
        send("<stream:features>\(features)</stream:features>")
    }

    private func handle(_ element: Element) {
        guard !isMute else { return }
        confirm()
        if isDeaf {
            server.login.fault("the client goes on in a stream whose header nobody has read")
            return close("unsupported-stanza-type")
        }
        switch (element.name, element.namespace) {
        case ("starttls", _): startTLS()
        case ("auth", _), ("authenticate", _): authenticate(element)
        case ("response", _): respond(element)
        case ("enable", "urn:xmpp:sm:3"): enable()
        case ("resume", "urn:xmpp:sm:3"): resume(element)
        case ("r", "urn:xmpp:sm:3"):
            if let session { send("<a xmlns='urn:xmpp:sm:3' h='\(session.handled)'/>") }
        case ("a", "urn:xmpp:sm:3"): acknowledged(element)
        case ("message", "jabber:client"), ("presence", "jabber:client"), ("iq", "jabber:client"): stanza(element)
        default: break
        }
    }

    /// Whatever comes after the login tells that the client has taken the success.
    private func confirm() {
        guard phase == .authenticated else { return }
        if !isConfirmed, let login {
            isConfirmed = true
            server.login.confirmed(login.mechanism, isSASL2: login.request != nil, offer)
        }
        guard let session, session.isManaged else { return }
        hasSpoken = true
        session.knownAfter = server.login.powerFailures
    }

    /// The connection is about to be lost: perhaps before the client had its session.
    func troubled(silently: Bool) { if silently || !hasSpoken { server.login.troubled(link) } }

    private func resume(_ element: Element) {
        guard phase == .authenticated, session == nil, takes(.resume), takes(.session) else { return }
        switch server.resume(element, on: self) {
        case .resumed(let session, let answer):
            send(answer)
            server.redeliver(session, on: self)
        case .failed(let answer):
            send(answer)
            // As Prosody does: what follows is read by a parser that has seen no header.
            if hasReadOn { isDeaf = true }
        case .closed(let condition): close(condition)
        }
    }

    private func enable() { if let session { send(enabled(session)) } }

    func enabled(_ session: ServerSession) -> String {
        session.isManaged = true
        return "<enabled xmlns='urn:xmpp:sm:3' id='\(session.id)' resume='true'/>"
    }

    private func acknowledged(_ element: Element) {
        isRequested = false
        guard let session, let count = element["h"].flatMap({ UInt32($0) }) else { return }
        switch session.acknowledge(count) {
        case .taken(let stanzas): server.acknowledged(stanzas)
        case .stale: break
        case .impossible:
            server.fault("the client acknowledges \(count) stanzas, more than were sent")
            close("undefined-condition")
        }
    }

    private func stanza(_ stanza: Element) {
        if let stranger { return handle(stanza, of: stranger) }
        if stanza.name == "iq", stanza.child("bind", "urn:ietf:params:xml:ns:xmpp-bind") != nil {
            return server.bind(stanza, on: self)
        }
        guard let session else { return }
        if session.isManaged { session.handled &+= 1 }
        server.handle(stanza, from: session)
    }

    /// Somebody else only binds, and sends messages to the account.
    private func handle(_ stanza: Element, of stranger: String) {
        if stanza.name == "iq" {
            send(
                """
                <iq type='result' id='\(stanza["id"] ?? "")'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>\
                <jid>\(stranger)/x</jid></bind></iq>
                """)
        } else if stanza.name == "message", let body = stanza.child("body", "jabber:client")?.text {
            server.receive(body, from: stranger + "/x")
        }
    }

    // MARK: Stanzas to the client

    /// Sends a stanza that is already in the session's queue.
    func deliver(_ stanza: String) {
        send(stanza)
        requestAcknowledgement()
    }

    /// Asks without end, and reads nothing for so many microseconds.
    func askWithoutReading(for microseconds: Int64) {
        guard !isOver, !isMute, session?.isManaged ?? false else { return }
        link.isRead = false
        send(String(repeating: "<r xmlns='urn:xmpp:sm:3'/>", count: 12_000))
        server.world.after(microseconds) { [link] in
            link.isRead = true
            link.onRoom()
        }
    }

    func requestAcknowledgement() {
        guard let session, session.isManaged, !isRequested, !session.unacknowledged.isEmpty else { return }
        isRequested = true
        server.world.after(20_000) { [weak self] in self?.send("<r xmlns='urn:xmpp:sm:3'/>") }
        // Whoever does not answer for long is gone.
        let count = session.acknowledged
        server.world.after(25_000_000) { [weak self] in
            guard let self, isRequested, self.session === session, session.acknowledged == count else { return }
            server.world.trace("   the server hears nothing and gives the connection up")
            server.login.troubled(link)
            link.cut(silently: true)
            lost()
        }
    }
}
