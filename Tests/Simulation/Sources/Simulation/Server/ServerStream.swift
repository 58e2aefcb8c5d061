import FoundationEssentials
import KalijXML

/// The server's end of a connection: negotiation far enough, and then stanzas.
final class ServerStream {
    unowned let server: SimulatedServer
    let link: Link
    private var parser = StreamParser()
    private var isAuthenticated = false
    /// The bare address of a stranger, if another address than the account has logged in.
    private var stranger: String?
    private(set) var isOver = false
    var session: ServerSession?
    private var isRequested = false
    private var outgoing = ""
    private var isFlushPlanned = false

    init(_ server: SimulatedServer, _ link: Link) {
        self.server = server
        self.link = link
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
                close()
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
        case .opened: open()
        case .element(let element): handle(element)
        case .closed:
            // In order: the session ends with the stream.
            if let session { server.end(session, inOrder: true) }
            session = nil
            close()
        case .skipped: break
        }
    }

    private func open() {
        send(
            """
            <?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' \
            id='\(server.newID("s"))' from='\(server.domain)' version='1.0'>
            """)
        let features =
            isAuthenticated
            ? "<bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/><sm xmlns='urn:xmpp:sm:3'/><ver xmlns='urn:xmpp:features:rosterver'/>"
            : "<mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><mechanism>PLAIN</mechanism></mechanisms>"
        send("<stream:features>\(features)</stream:features>")
    }

    private func handle(_ element: Element) {
        switch (element.name, element.namespace) {
        case ("auth", _):
            guard server.feature(SimulatedRegistration.self).accepts(element.text) else {
                return send("<failure xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><not-authorized/></failure>")
            }
            isAuthenticated = true
            let names = Data(base64Encoded: element.text)?.split(separator: 0) ?? []
            let user = names.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
            if server.hasStrangers, !server.account.hasPrefix(user + "@") { stranger = "\(user)@\(server.domain)" }
            parser = StreamParser()
            send("<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>")
        case ("enable", "urn:xmpp:sm:3"): enable()
        case ("resume", "urn:xmpp:sm:3"): server.resume(element, on: self)
        case ("r", "urn:xmpp:sm:3"):
            if let session { send("<a xmlns='urn:xmpp:sm:3' h='\(session.handled)'/>") }
        case ("a", "urn:xmpp:sm:3"): acknowledged(element)
        case ("message", "jabber:client"), ("presence", "jabber:client"), ("iq", "jabber:client"): stanza(element)
        default: break
        }
    }

    private func enable() {
        guard let session else { return }
        session.isManaged = true
        send("<enabled xmlns='urn:xmpp:sm:3' id='\(session.id)' resume='true'/>")
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

    func requestAcknowledgement() {
        guard let session, session.isManaged, !isRequested, !session.unacknowledged.isEmpty else { return }
        isRequested = true
        server.world.after(20_000) { [weak self] in self?.send("<r xmlns='urn:xmpp:sm:3'/>") }
        // Whoever does not answer for long is gone.
        let count = session.acknowledged
        server.world.after(25_000_000) { [weak self] in
            guard let self, isRequested, self.session === session, session.acknowledged == count else { return }
            server.world.trace("   the server hears nothing and gives the connection up")
            link.cut(silently: true)
            lost()
        }
    }
}
