import KalijXML

/// A server with one account, and its record of the events.
final class SimulatedServer {
    let world: World
    let profile: Profile
    let account: String
    let domain: String
    private(set) lazy var features: [any SimulatedFeature] = SimulatedFeatures.all.map { $0.init(self) }
    /// The archived messages that were delivered live and acknowledged, by their number.
    private(set) var acknowledgedMessages: Set<Int> = []
    /// The archived messages that were delivered, perhaps into nothing, by their number.
    private(set) var deliveredMessages: Set<Int> = []
    /// Whether the client has taken results that it keeps in the order of the account's archive.
    private(set) var hasShownPage = false
    /// The client's breaches of the protocol.
    private(set) var faults: [String] = []
    /// Whether others than the account can log in.
    var hasStrangers = false
    var latency: ClosedRange<Int64> = 500...20_000
    private(set) var sessions: [ServerSession] = []
    /// How many sessions there were.
    private(set) var begun = 0
    /// Whether a session has gone to an heir that did not see everything.
    private(set) var hadSeveralHeirs = false
    /// The counts of handled stanzas of sessions that are gone.
    private var remembered: [String: UInt32] = [:]
    private var streams: [ServerStream] = []
    private var links = 0
    private var isDown = false
    private var lastID = 0
    /// How often anything was sent or came: an unchanged number means quiet.
    private(set) var activity = 0

    init(_ world: World, _ profile: Profile, account: String = "juliet@example.org") {
        self.world = world
        self.account = account
        domain = String(account.drop { $0 != "@" }.dropFirst())
        self.profile = profile
    }

    /// The feature of the wanted type.
    func feature<Wanted: SimulatedFeature>(_: Wanted.Type = Wanted.self) -> Wanted {
        // A feature outside the list has nothing to do with the others.
        features.lazy.compactMap { $0 as? Wanted }.first ?? Wanted(self)
    }

    /// How clients are let in.
    private(set) lazy var login: SimulatedLogin = feature()

    /// The full address of a session.
    func address(_ session: ServerSession) -> String { "\(account)/\(session.resource)" }

    /// Notes that something was sent or came.
    func moved() { activity += 1 }

    func newID(_ kind: String) -> String {
        lastID += 1
        return "\(kind)\(1000 + lastID)"
    }

    func fault(_ text: String) {
        world.trace("   FAULT: \(text)")
        faults.append(text)
    }

    // MARK: Connections

    /// A connection to the server; nil if the server is down.
    /// - Parameter process: the number of the connecting process.
    func connect(process: Int = 0) -> Link? {
        guard !isDown else { return nil }
        links += 1
        let link = Link(world, latency: latency, number: links, process: process)
        streams.removeAll { $0.isOver }
        streams.append(ServerStream(self, link))
        login.connected(link)
        return link
    }

    /// Cuts all connections.
    func cut(silently: Bool) {
        for stream in streams where !stream.isOver {
            stream.troubled(silently: silently)
            stream.link.cut(silently: silently)
        }
    }

    /// Asks each client without end whether stanzas have arrived, and reads nothing meanwhile.
    func askWithoutReading(for microseconds: Int64) {
        for stream in streams { stream.askWithoutReading(for: microseconds) }
    }

    /// Stops, forgets the sessions, and starts again.
    func restart(after microseconds: Int64) {
        isDown = true
        for feature in features { feature.restarted() }
        for stream in streams where !stream.isOver { stream.close("system-shutdown") }
        for session in sessions { end(session) }
        if !profile.remembersCountAfterRestart { remembered = [:] }
        world.after(microseconds) { [weak self] in self?.isDown = false }
    }

    /// All sessions without a connection expire.
    func expire() -> Bool {
        let idle = sessions.filter { $0.stream == nil }
        for session in idle { end(session) }
        return !idle.isEmpty
    }

    // MARK: Sessions

    func bind(_ iq: Element, on stream: ServerStream) {
        let resource = iq.findFirst("{urn:ietf:params:xml:ns:xmpp-bind}bind/resource#") ?? newID("r")
        _ = begin(resource, on: stream)
        stream.send(
            """
            <iq type='result' id='\(iq["id"] ?? "")'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>\
            <jid>\(account)/\(resource)</jid></bind></iq>
            """)
    }

    /// Begins a session in the place of the session with the same resource.
    func begin(_ resource: String, on stream: ServerStream) -> ServerSession {
        for old in sessions { login.replaced(old, by: stream.link) }
        for old in sessions where old.resource == resource {
            let connection = old.stream
            end(old, inOrder: true)
            connection?.session = nil
            connection?.close("conflict")
        }
        let session = ServerSession(id: newID("session"), resource: resource)
        session.stream = stream
        stream.session = session
        sessions.append(session)
        begun += 1
        return session
    }

    func hibernate(_ stream: ServerStream) {
        guard let session = stream.session, session.stream === stream else { return }
        stream.session = nil
        session.stream = nil
        guard session.isManaged else { return end(session) }
        session.bequeath()
        let resumed = session.resumedAt
        world.after(Int64(profile.sessionTimeout) * 1_000_000) { [weak self] in
            if session.stream == nil, session.resumedAt == resumed { self?.end(session) }
        }
    }

    /// Forgets a session. Stanzas not delivered are in the archive.
    /// - Parameter inOrder: whether the session was closed, by its client or by another client in its place.
    func end(_ session: ServerSession, inOrder: Bool = false) {
        guard let index = sessions.firstIndex(where: { $0 === session }) else { return }
        sessions.remove(at: index)
        if session.isManaged, !inOrder { remembered[session.id] = session.handled }
        session.stream = nil
        let unacknowledged = session.takeUnacknowledged()
        for feature in features { feature.ended(session, unacknowledged) }
    }

    /// The outcome of an attempt to resume: the answer, or the end of the connection.
    enum Resumption {
        case resumed(ServerSession, String)
        case failed(String)
        case closed(String?)
    }

    func resume(_ element: Element, on stream: ServerStream) -> Resumption {
        let id = element["previd"] ?? ""
        guard let session = sessions.first(where: { $0.id == id }), session.isManaged,
            let count = element["h"].flatMap({ UInt32($0) })
        else {
            world.counts.failedResumes += 1
            return .failed(failed(remembered[id], "item-not-found"))
        }
        if let old = session.stream, old !== stream {
            old.abandon()
            session.bequeath()
            if profile.tellsConflict {
                old.close("conflict")
            } else {
                world.after(700_000) { old.link.end(from: .server) }
            }
        }
        let wasJustResumed = session.resumedAt.map { world.now - $0 < 1_500_000 } ?? false
        if profile.hasSeveralHeirs, wasJustResumed, world.random.chance(50) {
            world.trace("   the session goes to another heir")
            hadSeveralHeirs = true
            session.inherit()
        }
        session.isRefused = true
        if session.isOverflowing { return .closed(nil) }
        switch session.acknowledge(count) {
        case .taken(let stanzas): acknowledged(stanzas)
        case .stale:
            fault("the client takes back what it has acknowledged: it resumes with \(count)")
            switch profile.staleCount {
            case .close: return .closed(nil)
            case .fail: return .failed(failed(nil, "undefined-condition"))
            case .resume: break
            }
        case .impossible:
            // Another heir has delivered stanzas unknown to this heir.
            if profile.hasSeveralHeirs { break }
            fault("the client resumes with \(count), more than was sent")
            return .closed("undefined-condition")
        }
        session.isRefused = false
        onResume()
        session.stream = stream
        session.resumedAt = world.now
        stream.session = session
        return .resumed(session, "<resumed xmlns='urn:xmpp:sm:3' previd='\(id)' h='\(session.handled)'/>")
    }

    /// The server does not look at an attempt to resume: what becomes of the session is no fault of the client's.
    func disregard(_ resume: Element) {
        for session in sessions where session.id == resume["previd"] { session.isRefused = true }
    }

    /// Sends again what was not acknowledged.
    func redeliver(_ session: ServerSession, on stream: ServerStream) {
        for sent in session.unacknowledged { stream.send(sent.stanza) }
        stream.requestAcknowledgement()
    }

    private func failed(_ count: UInt32?, _ condition: String) -> String {
        """
        <failed xmlns='urn:xmpp:sm:3'\(count.map { " h='\($0)'" } ?? "")>\
        <\(condition) xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></failed>
        """
    }

    /// Called when a client has resumed: everything that the client claims to have must be stored.
    var onResume: () -> Void = {}

    func acknowledged(_ stanzas: [ServerSession.Sent]) {
        // A client drops a result of a page that was given up, and reads the page again: an acknowledged result need not be
        // stored.
        if stanzas.contains(where: { $0.isPage && $0.message != nil }) { hasShownPage = true }
        for sent in stanzas where !sent.isPage {
            if let message = sent.message { acknowledgedMessages.insert(message) }
            sent.acknowledged?()
        }
    }

    // MARK: Delivering

    /// Puts a stanza into a session's queue, and sends the stanza if there is a connection.
    /// - Parameters:
    ///   - message: the number of the archived message that the stanza is, or shows.
    ///   - isPage: whether the stanza shows a message in a page.
    ///   - acknowledged: called when the client has acknowledged the stanza.
    func send(
        _ stanza: String, to session: ServerSession, message: Int? = nil, isPage: Bool = false,
        acknowledged: (() -> Void)? = nil
    ) {
        activity += 1
        if let message, !isPage { deliveredMessages.insert(message) }
        if session.isManaged {
            let sent = ServerSession.Sent(
                stanza: stanza, message: message, isPage: isPage, acknowledged: acknowledged)
            session.sent(sent, limit: profile.queueLimit)
        }
        session.stream?.deliver(stanza)
    }

    /// A stanza for one resource. Without the resource the stanza is lost.
    func route(_ stanza: String, to resource: String) {
        for session in sessions where session.resource == resource { send(stanza, to: session) }
    }

    func inClient(_ stanza: String) -> String { "<message xmlns='jabber:client'" + stanza.dropFirst("<message".count) }
}
