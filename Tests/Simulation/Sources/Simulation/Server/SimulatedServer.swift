import KalijXML

/// A server with one account, and its record of what happened.
final class SimulatedServer {
    let world: World
    let profile: Profile
    let account: String
    let domain: String
    private(set) var archive = Archive()
    /// The messages that the client sent, as they came: what the recipients have, since each is passed on once.
    private(set) var taken: [Taken] = []
    /// The archived messages that were delivered live and acknowledged, by their number.
    private(set) var acknowledgedMessages: Set<Int> = []
    /// The messages that the client knows to be read on another device, and had before it learned of that.
    private(set) var acknowledgedReadings: Set<Int> = []
    /// Those that perhaps it knows of.
    private(set) var readings: Set<Int> = []
    /// Whether the client has taken results of a page.
    private(set) var hasShownPage = false
    /// What the client did that it must not.
    private(set) var faults: [String] = []
    /// Whether others than the account can log in.
    var hasStrangers = false
    var latency: ClosedRange<Int64> = 500...20_000
    private var sessions: [ServerSession] = []
    /// How many sessions there were.
    private(set) var begun = 0
    /// What was counted of sessions that are gone.
    private var remembered: [String: UInt32] = [:]
    private var streams: [ServerStream] = []
    private var offline: [ArchivedMessage] = []
    private var isDown = false
    private var hasAnsweredPage = false
    private var lastID = 0
    private var lastNumber = 0
    /// How often anything was sent or came, to see whether it is quiet.
    private(set) var activity = 0

    struct Taken {
        let originID: String
        let body: String
        /// Its number in the record.
        let number: Int
    }

    init(_ world: World, _ profile: Profile, account: String = "juliet@example.org") {
        self.world = world
        self.account = account
        domain = String(account.drop { $0 != "@" }.dropFirst())
        self.profile = profile
    }

    func newID(_ kind: String) -> String {
        lastID += 1
        return "\(kind)\(1000 + lastID)"
    }

    func fault(_ text: String) {
        world.trace("   FAULT: \(text)")
        faults.append(text)
    }

    // MARK: Connections

    /// A connection to the server; nil if it is down.
    func connect() -> Link? {
        guard !isDown else { return nil }
        let link = Link(world, latency: latency)
        streams.removeAll { $0.isOver }
        streams.append(ServerStream(self, link))
        return link
    }

    /// Cuts all connections.
    func cut(silently: Bool) {
        for stream in streams where !stream.isOver { stream.link.cut(silently: silently) }
    }

    /// Stops, forgets its sessions, and starts again.
    func restart(after microseconds: Int64) {
        isDown = true
        hasAnsweredPage = false
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
        stream.send(
            """
            <iq type='result' id='\(iq["id"] ?? "")'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>\
            <jid>\(account)/\(resource)</jid></bind></iq>
            """)
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

    /// Forgets a session. What it had not delivered is in the archive.
    /// - Parameter inOrder: whether it was closed, by its client or by another one in its place.
    func end(_ session: ServerSession, inOrder: Bool = false) {
        guard let index = sessions.firstIndex(where: { $0 === session }) else { return }
        sessions.remove(at: index)
        if session.isManaged, !inOrder { remembered[session.id] = session.handled }
        session.stream = nil
        guard !profile.hasArchive || profile.policy != .always else { return }
        // What is not archived and was not acknowledged is kept for whoever comes next.
        let messages = session.takeUnacknowledged().compactMap(\.message)
        offline += archive.messages.filter { messages.contains($0.number) && !$0.isKept }
    }

    func resume(_ element: Element, on stream: ServerStream) {
        let id = element["previd"] ?? ""
        guard let session = sessions.first(where: { $0.id == id }), session.isManaged,
            let count = element["h"].flatMap({ UInt32($0) })
        else {
            return refuse(id, on: stream)
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
            session.inherit()
        }
        if session.isOverflowing { return stream.close() }
        switch session.acknowledge(count) {
        case .taken(let stanzas): acknowledged(stanzas)
        case .stale:
            fault("the client takes back what it has acknowledged: it resumes with \(count)")
            switch profile.staleCount {
            case .close: return stream.close()
            case .fail: return stream.send(failed(nil, "undefined-condition"))
            case .resume: break
            }
        case .impossible:
            // Another heir has delivered what this one knows nothing of.
            if profile.hasSeveralHeirs { break }
            fault("the client resumes with \(count), more than was sent")
            return stream.close("undefined-condition")
        }
        onResume()
        session.stream = stream
        session.resumedAt = world.now
        stream.session = session
        stream.send("<resumed xmlns='urn:xmpp:sm:3' previd='\(id)' h='\(session.handled)'/>")
        for sent in session.unacknowledged { stream.send(sent.stanza) }
        stream.requestAcknowledgement()
    }

    private func refuse(_ id: String, on stream: ServerStream) {
        world.counts.failedResumes += 1
        stream.send(failed(remembered[id], "item-not-found"))
    }

    private func failed(_ count: UInt32?, _ condition: String) -> String {
        """
        <failed xmlns='urn:xmpp:sm:3'\(count.map { " h='\($0)'" } ?? "")>\
        <\(condition) xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></failed>
        """
    }

    /// Called when a client has resumed: what it claims to have is there.
    var onResume: () -> Void = {}

    func acknowledged(_ stanzas: [ServerSession.Sent]) {
        // A result of a page that nobody waits for any more is dropped, and read again.
        if stanzas.contains(where: \.isPage) { hasShownPage = true }
        for sent in stanzas where !sent.isPage {
            if let message = sent.message { acknowledgedMessages.insert(message) }
            if let read = sent.read { acknowledgedReadings.insert(read) }
        }
    }

    // MARK: Delivering

    /// Puts a stanza into a session's queue, and sends it if there is a connection.
    func send(
        _ stanza: String, to session: ServerSession, message: Int? = nil, isPage: Bool = false, read: Int? = nil
    ) {
        activity += 1
        if session.isManaged {
            let sent = ServerSession.Sent(stanza: stanza, message: message, isPage: isPage, read: read)
            session.sent(sent, limit: profile.queueLimit)
        }
        session.stream?.deliver(stanza)
    }

    /// A message comes for the account, or from another of its resources.
    /// - Parameter isHidden: whether it is for another resource alone.
    func receive(_ body: String, from sender: String, isHidden: Bool = false) {
        let isOwn = sender.hasPrefix(account)
        let id = newID("m")
        let message = file(
            body, id: id, from: sender, to: isOwn ? "romeo@example.net" : account,
            extra: "<origin-id xmlns='urn:xmpp:sid:0' id='\(id)'/>", isLive: true)
        world.counts.stanzas += 1
        guard !isHidden else { return }
        let late = world.random.pick(0...999) < profile.deliveredLate
        world.after(late ? 30_000 : 0) { [weak self] in self?.distribute(message, isOwn: isOwn) }
    }

    /// Another device of the account shows that it has shown the newest message of `sender` (XEP-0333).
    func read(from sender: String) {
        guard let message = archive.messages.last(where: { $0.from == sender && $0.to == account }) else { return }
        let earlier = archive.messages.filter { $0.from == sender && $0.number <= message.number }
        readings.formUnion(earlier.map(\.number))
        let isKnown = acknowledgedMessages.contains(message.number)
        let bare = sender.prefix { $0 != "/" }
        let marker = """
            <message from='\(account)/phone' to='\(bare)' type='chat' id='\(newID("d"))'>\
            <displayed xmlns='urn:xmpp:chat-markers:0' id='\(message.messageID)'/></message>
            """
        for session in sessions where session.wantsCarbons {
            send(carbon(marker, to: session), to: session, read: isKnown ? message.number : nil)
        }
    }

    private func distribute(_ message: ArchivedMessage, isOwn: Bool) {
        let stanza = message.delivered(to: account, isStamped: message.isKept)
        if isOwn {
            for session in sessions where session.wantsCarbons {
                send(carbon(stanza, to: session), to: session, message: message.number)
            }
            return
        }
        let available = sessions.filter(\.isAvailable)
        if available.isEmpty, profile.deliversOffline || !message.isKept { offline.append(message) }
        for session in available { send(stanza, to: session, message: message.number) }
    }

    private func carbon(_ stanza: String, to session: ServerSession) -> String {
        """
        <message from='\(account)' to='\(account)/\(session.resource)' type='chat'><sent xmlns='urn:xmpp:carbons:2'>\
        <forwarded xmlns='urn:xmpp:forward:0'>\(inClient(stanza))</forwarded></sent></message>
        """
    }

    /// A stanza for one resource; it is lost if that is not there.
    func route(_ stanza: String, to resource: String) {
        for session in sessions where session.resource == resource { send(stanza, to: session) }
    }

    func becameAvailable(_ session: ServerSession) {
        guard !session.isAvailable else { return }
        session.isAvailable = true
        let address = "\(account)/\(session.resource)"
        send("<presence from='\(address)' to='\(address)'/>", to: session)
        let messages = offline
        offline = []
        for message in messages {
            let stanza = message.delivered(to: account, isStamped: message.isKept, isLate: true)
            send(stanza, to: session, message: message.number)
        }
    }

    /// Writes a message into the archive.
    @discardableResult
    private func file(
        _ body: String, id: String, from: String, to: String, extra: String, isLive: Bool
    ) -> ArchivedMessage {
        activity += 1
        lastNumber += 1
        let previous = archive.messages.last
        let peer = from.hasPrefix(account) ? to : from
        let isKept = profile.keeps(String(peer.prefix { $0 != "/" }))
        let isTwin =
            isLive && isKept && previous?.isKept ?? false && world.random.pick(0...999) < profile.twins
            && previous.map { $0.from != from } ?? false
        let archiveID = isTwin ? previous?.id ?? "" : newID("a")
        let isLate = world.random.pick(0...999) < profile.archivedLate
        let message = ArchivedMessage(
            id: archiveID, from: from, to: to, messageID: id, body: body,
            stanza: "<message from='\(from)' to='\(to)' type='chat' id='\(id)'><body>\(body)</body>\(extra)</message>",
            at: world.milliseconds, visible: world.now + (isLate ? world.random.pick(10_000...1_100_000) : 0),
            number: lastNumber, isKept: isKept)
        archive.add(message, now: world.now)
        return message
    }

    /// The message that the account has sent last and whose bytes a hostile room may know.
    private(set) var lastTaken: (id: String, to: String)?

    func take(_ stanza: Element, from session: ServerSession) {
        guard let body = stanza.child("body", "jabber:client")?.text, let id = stanza["id"] else { return }
        world.counts.stanzas += 1
        taken.append(Taken(originID: id, body: body, number: lastNumber + 1))
        lastTaken = (id, stanza["to"] ?? "")
        if stanza["to"] == Self.nobody { bounce(id, to: session) }
        file(
            body, id: id, from: "\(account)/\(session.resource)", to: stanza["to"] ?? "",
            extra: "<origin-id xmlns='urn:xmpp:sid:0' id='\(id)'/>", isLive: false)
    }

    /// Forgets old messages, of those that the client says it has, by asking for what is behind them.
    func expireArchive(percent: Int) {
        world.counts.forgotten += archive.expire(percent: percent, known: acknowledgedMessages)
    }

    /// Forgets all messages.
    func purgeArchive() {
        world.counts.purges += 1
        world.counts.forgotten += archive.purge(known: acknowledgedMessages)
    }

    /// Whether a page can be given now.
    func startsArchive() -> Bool {
        defer { hasAnsweredPage = true }
        return hasAnsweredPage || !profile.archiveStartsSlowly
    }

    /// Who does not exist.
    static let nobody = "nobody@example.net"

    private func bounce(_ id: String, to session: ServerSession) {
        let error = """
            <message type='error' id='\(id)' from='\(Self.nobody)' to='\(account)/\(session.resource)'>\
            <error type='cancel'><service-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></message>
            """
        let resource = session.resource
        world.after(world.random.pick(1000...200_000)) { [weak self] in self?.route(error, to: resource) }
    }

    func page(_ query: Archive.Query) -> Archive.Page? {
        archive.claim(query.after)
        let page = archive.page(query, now: world.now)
        if let page { archive.show(page) }
        if query.after == nil, query.before == nil, let first = page?.messages.first {
            archive.begin(at: first.number, now: world.now)
        }
        return page
    }

    func inClient(_ stanza: String) -> String { "<message xmlns='jabber:client'" + stanza.dropFirst("<message".count) }
}
