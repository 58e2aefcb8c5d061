import KalijStore
import KalijXML

/// A room (XEP-0045) with a contact in it, perhaps on another server, to which a link leads that loses messages
/// silently.
final class SimulatedMUC: SimulatedFeature {
    static let address = "garden@rooms.example.net"
    private static let contact = "romeo"
    private static let muc = "http://jabber.org/protocol/muc"

    unowned let server: SimulatedServer
    /// All that was said, in the room's order.
    private(set) var archive = Archive()
    /// Who of the account's sessions is in the room, and under which nickname.
    private(set) var occupants: [(session: ServerSession, nick: String)] = []
    /// The sessions that have asked what the room is, and have not entered since.
    private var asked: Set<String> = []
    /// How often the account has entered.
    private(set) var joins = 0
    /// How many messages the link has lost.
    private(set) var lost = 0
    /// How many messages were said before the account entered for the first time.
    private(set) var before: Int?
    private var lastNumber = 0
    /// When the last stanza on the link arrives.
    private var linkEnd: Int64 = 0
    private var world: World { server.world }

    init(_ server: SimulatedServer) { self.server = server }

    /// Every fourth room keeps no archive.
    var hasArchive: Bool { world.seed / 8 % 4 != 3 }
    /// Every third room is on another server.
    private var isRemote: Bool { world.seed / 8 % 3 == 0 }

    /// Stanzas to a room on another server need some time, and arrive in order (RFC 6120 section 10.1).
    private func carry(_ arrive: @escaping (SimulatedMUC) -> Void) {
        guard isRemote else { return arrive(self) }
        linkEnd = max(linkEnd + 1, world.now + Int64(world.random.pick(1000...400_000)))
        world.after(linkEnd - world.now) { [weak self] in
            if let self { arrive(self) }
        }
    }

    // MARK: Occupants

    func present(_ presence: Element, of session: ServerSession) {
        guard let to = presence["to"], to.hasPrefix(Self.address) else { return }
        carry { $0.arrived(presence, to, of: session) }
    }

    private func arrived(_ presence: Element, _ to: String, of session: ServerSession) {
        guard server.sessions.contains(where: { $0 === session }) else { return }
        let nick = String(to.dropFirst(Self.address.count + 1))
        guard presence["type"] == nil else { return leave(session) }
        guard let x = presence.child("x", Self.muc) else { return server.fault("presence to a room without <x/>") }
        // A room that has forgotten itself is made anew by whoever enters (measured: ejabberd).
        let isIn = occupants.contains { $0.session === session }
        if asked.remove(session.id) == nil, !isIn { server.fault("a room is entered without the question what it is") }
        enter(session, nick, since: x.child("history")?["since"].flatMap(Stamp.milliseconds))
    }

    private func enter(_ session: ServerSession, _ nick: String, since: Int64?) {
        occupants.removeAll { $0.session === session }
        occupants.append((session, nick))
        joins += 1
        before = before ?? archive.messages.count
        world.trace("   \(nick) enters the room")
        show(Self.contact, "owner", to: session)
        show(nick, "member", [100, 110], to: session)
        if !hasArchive, let since {
            for message in archive.messages where message.at >= since { send(message, to: session, isHistory: true) }
        }
        server.send(
            "<message from='\(Self.address)' to='\(server.address(session))' type='groupchat'><subject/></message>",
            to: session)
    }

    private func show(
        _ nick: String, _ affiliation: String, _ statuses: [Int] = [], type: String? = nil, to session: ServerSession
    ) {
        let type = type.map { " type='\($0)'" } ?? ""
        let status = statuses.map { "<status code='\($0)'/>" }.joined()
        server.send(
            """
            <presence from='\(Self.address)/\(nick)' to='\(server.address(session))'\(type)><x xmlns='\(Self.muc)#user'>\
            <item affiliation='\(affiliation)' role='participant'/>\(status)</x></presence>
            """, to: session)
    }

    private func leave(_ session: ServerSession) { occupants.removeAll { $0.session === session } }

    func ended(_ session: ServerSession, _ sent: [ServerSession.Sent]) { carry { $0.leave(session) } }

    /// The room's service starts again and has forgotten who was there; it tells everybody, or nobody.
    func restart(isTold: Bool) {
        world.trace("*** the room forgets its occupants\(isTold ? ", and says so" : "")")
        let gone = occupants
        occupants = []
        guard isTold else { return }
        for one in gone where server.sessions.contains(where: { $0 === one.session }) {
            show(one.nick, "none", [110, 332], type: "unavailable", to: one.session)
        }
    }

    // MARK: Messages

    /// The contact says something.
    func say(_ body: String) { say(body, as: Self.contact, id: server.newID("g")) }

    /// An occupant says something that is no text. The room hides the address.
    func say(content: String) { say("forged", as: "tybalt", id: server.newID("g"), content: content) }

    private func say(_ body: String, as nick: String, id: String, content: String? = nil) {
        server.moved()
        lastNumber += 1
        let message = ArchivedMessage(
            id: server.newID("garden"), from: "\(Self.address)/\(nick)", to: "", messageID: id, body: body,
            stanza: """
                <message from='\(Self.address)/\(nick)' type='groupchat' id='\(id)'>\
                \(content ?? "<body>\(body)</body>")\
                <origin-id xmlns='urn:xmpp:sid:0' id='\(id)'/></message>
                """,
            at: world.milliseconds, visible: world.now, number: lastNumber, isKept: true)
        archive.add(message, now: world.now)
        world.counts.stanzas += 1
        for one in occupants { send(message, to: one.session) }
    }

    private func send(_ message: ArchivedMessage, to session: ServerSession, isHistory: Bool = false) {
        guard server.sessions.contains(where: { $0 === session }) else { return }
        var stanza = message.delivered(to: Self.address, isStamped: hasArchive)
        if isHistory {
            stanza =
                stanza.dropLast("</message>".count)
                + "<delay xmlns='urn:xmpp:delay' from='\(Self.address)' stamp='\(Stamp.text(message.at))'/></message>"
        }
        server.send(stanza, to: session)
    }

    /// The client says something.
    func said(_ message: Element, by session: ServerSession) {
        guard message["to"] == Self.address, let id = message["id"],
            let body = message.child("body", "jabber:client")?.text
        else { return server.fault("a message to a room: \(message.xml())") }
        if isRemote, !isCalm, world.random.chance(8) {
            lost += 1
            return world.trace("   the link to the room loses \(body)")
        }
        let resource = session.resource
        carry { garden in
            guard let occupant = garden.occupants.first(where: { $0.session === session }) else {
                return garden.server.route(
                    """
                    <message type='error' id='\(id)' from='\(Self.address)' to='\(garden.server.address(session))'>\
                    <error type='modify'><not-acceptable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></message>
                    """, to: resource)
            }
            garden.say(body, as: occupant.nick, id: id)
        }
    }

    /// Whether nothing is lost any more.
    var isCalm = false

    // MARK: Requests

    func forward(_ request: Element, to recipient: String, of session: ServerSession) -> Bool {
        guard recipient.hasPrefix(Self.address) else { return false }
        carry { $0.take(request, recipient, of: session) }
        return true
    }

    private func take(_ request: Element, _ recipient: String, of session: ServerSession) {
        if let query = request.child("query", "urn:xmpp:mam:2"), hasArchive {
            show(Archive.Query(query), request, to: session)
        } else if request.child("ping", "urn:xmpp:ping") != nil {
            let isIn = occupants.contains { $0.session === session && recipient == "\(Self.address)/\($0.nick)" }
            if isIn {
                answer(request, recipient, to: session)
            } else {
                refuse(request, recipient, "not-acceptable", to: session)
            }
        } else if request.child("query", "http://jabber.org/protocol/disco#info") != nil {
            asked.insert(session.id)
            let features = [Self.muc, "muc_membersonly", "muc_nonanonymous"] + (hasArchive ? ["urn:xmpp:mam:2"] : [])
            answer(
                request, recipient, to: session,
                "<query xmlns='http://jabber.org/protocol/disco#info'><identity category='conference' type='text'/>"
                    + features.map { "<feature var='\($0)'/>" }.joined() + "</query>")
        } else {
            refuse(request, recipient, "service-unavailable", to: session)
        }
    }

    private func show(_ query: Archive.Query, _ request: Element, to session: ServerSession) {
        guard let page = archive.page(query, now: world.now) else {
            return refuse(request, Self.address, "item-not-found", to: session)
        }
        for message in page.messages {
            server.send(
                """
                <message from='\(Self.address)' to='\(server.address(session))'><result xmlns='urn:xmpp:mam:2' \
                queryid='\(query.queryID ?? "")' id='\(message.id)'><forwarded xmlns='urn:xmpp:forward:0'>\
                <delay xmlns='urn:xmpp:delay' stamp='\(Stamp.text(message.at))'/>\(server.inClient(message.stanza))</forwarded>\
                </result></message>
                """, to: session, isPage: true)
        }
        let bounds = page.messages.first.map { first in
            "<first>\(first.id)</first><last>\(page.messages.last?.id ?? first.id)</last>"
        }
        answer(
            request, Self.address, to: session,
            """
            <fin xmlns='urn:xmpp:mam:2'\(page.isComplete ? " complete='true'" : "")>\
            <set xmlns='http://jabber.org/protocol/rsm'>\(bounds ?? "")</set></fin>
            """)
    }

    private func answer(_ iq: Element, _ sender: String, to session: ServerSession, _ payload: String = "") {
        server.send(
            "<iq type='result' id='\(iq["id"] ?? "")' from='\(sender)' to='\(server.address(session))'>\(payload)</iq>",
            to: session)
    }

    private func refuse(_ iq: Element, _ sender: String, _ condition: String, to session: ServerSession) {
        server.send(
            """
            <iq type='error' id='\(iq["id"] ?? "")' from='\(sender)' to='\(server.address(session))'><error type='cancel'>\
            <\(condition) xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
            """, to: session)
    }
}
