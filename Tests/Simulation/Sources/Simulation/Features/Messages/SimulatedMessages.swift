import KalijStore
import KalijXML

/// Messages between the account and its contacts (RFC 6121 sections 5 and 8): archived, delivered, kept for the next resource, or
/// refused.
final class SimulatedMessages: SimulatedFeature {
    unowned let server: SimulatedServer
    /// The client's messages, in the order of arrival: the messages of the recipients, because each message is passed on once.
    private(set) var taken: [Taken] = []
    /// The account's last message. The room may know its id and recipient.
    private(set) var lastTaken: (id: String, to: String)?
    /// The client's messages that a server on the way has sent back although they had arrived, by their id.
    private(set) var returned: Set<String> = []
    private var offline: [ArchivedMessage] = []
    private var archive: SimulatedArchive { server.feature() }
    private var profile: Profile { server.profile }
    private var world: World { server.world }

    struct Taken {
        let originID: String
        let body: String
        /// The number in the record.
        let number: Int
        /// Whether the recipient does not exist.
        let isRefused: Bool
    }

    /// An address without an owner.
    static let nobody = "nobody@example.net"

    init(_ server: SimulatedServer) { self.server = server }

    // MARK: To the client

    /// A message comes for the account, or from another resource of the account.
    /// - Parameters:
    ///   - isHidden: whether the message is for another resource alone.
    ///   - id: nil for a new id.
    ///   - quote: what stands in front of the text for clients that do not know replies.
    ///   - mark: XML besides the text.
    func receive(
        _ body: String, from sender: String, isHidden: Bool = false, id: String? = nil, quoting quote: String = "",
        with mark: String = ""
    ) {
        let isOwn = sender.hasPrefix(server.account)
        let additions = isOwn ? "" : server.features.map { $0.additions(to: body, from: sender) }.joined()
        let message = receive(
            "<body>\(quote)\(body)</body>", additions + mark, body: body, id: id, from: sender, isHidden: isHidden)
        if !isOwn { server.features.forEach { $0.filed(message) } }
    }

    /// A contact, or another resource of the account, sends a stanza that is kept as messages are, without a text for people.
    @discardableResult
    func receive(
        _ content: String, from sender: String, to recipient: String = SimulatedContacts.subscriber
    ) -> ArchivedMessage {
        receive(content, "", body: nil, id: nil, from: sender, to: recipient)
    }

    /// A contact's device sends an encrypted stanza.
    /// - Parameters:
    ///   - text: the text that the account's device reads in it; nil if it is no new message.
    ///   - id: nil for a new id.
    @discardableResult
    func receiveEncrypted(_ content: String, text: String?, id: String? = nil, from sender: String) -> ArchivedMessage {
        receive(content, "", body: text, id: id, from: sender)
    }

    private func receive(
        _ content: String, _ additions: String, body: String?, id: String?, from sender: String,
        to recipient: String = SimulatedContacts.subscriber, isHidden: Bool = false
    ) -> ArchivedMessage {
        let isOwn = sender.hasPrefix(server.account)
        let id = id ?? server.newID("m")
        let message = archive.file(
            content + "<origin-id xmlns='urn:xmpp:sid:0' id='\(id)'/>" + additions, body: body, id: id, from: sender,
            to: isOwn ? recipient : server.account, isLive: true)
        if body != nil { world.counts.stanzas += 1 }
        guard !isHidden else { return message }
        let late = world.random.pick(0...999) < profile.deliveredLate
        world.after(late ? 30_000 : 0) { [weak self] in self?.distribute(message, isOwn: isOwn) }
        return message
    }

    /// Another resource of the account sends a note to the account itself: archived as sent and as received, copied and delivered.
    /// - Returns: the id of the note.
    func receiveNote(_ content: String, from sender: String) -> String {
        let id = server.newID("m")
        for isSent in [true, false] {
            let message = archive.file(
                content + "<origin-id xmlns='urn:xmpp:sid:0' id='\(id)'/>", body: nil, id: id, from: sender,
                to: server.account, isLive: true)
            distribute(message, isOwn: isSent)
        }
        return id
    }

    private func distribute(_ message: ArchivedMessage, isOwn: Bool) {
        let stanza = message.delivered(to: server.account, isStamped: message.isKept)
        if isOwn { return server.feature(SimulatedCarbons.self).copy(stanza, message: message.number) }
        let available = server.sessions.filter(\.isAvailable)
        if available.isEmpty, profile.deliversOffline || !message.isKept { offline.append(message) }
        for session in available { server.send(stanza, to: session, message: message.number) }
    }

    /// Delivers the waiting messages.
    func becameAvailable(_ session: ServerSession) {
        let messages = offline
        offline = []
        for message in messages {
            let stanza = message.delivered(to: server.account, isStamped: message.isKept, isLate: true)
            server.send(stanza, to: session, message: message.number)
        }
    }

    /// Messages without acknowledgement and archive are kept for the next resource.
    func ended(_ session: ServerSession, _ sent: [ServerSession.Sent]) {
        guard !profile.hasArchive || profile.policy != .always else { return }
        let messages = sent.compactMap(\.message)
        offline += server.archive.messages.filter { messages.contains($0.number) && !$0.isKept }
    }

    // MARK: From the client

    func sent(_ message: Element, by session: ServerSession) {
        guard SimulatedOperation(message) == nil, !SimulatedOMEMO.isEncrypted(message), !SimulatedFiles.isFile(message),
            let id = message["id"],
            // In an answer the text stands after the quote.
            let text = message.child("body", "jabber:client")?.text.split(separator: "\n").last.map(String.init)
        else { return }
        // A corrected text that is sent again has the new text under the first one's id.
        let body = id.hasPrefix("out-") ? id : text
        world.counts.stanzas += 1
        let isRefused = message["to"] == Self.nobody
        taken.append(Taken(originID: id, body: body, number: archive.nextNumber, isRefused: isRefused))
        lastTaken = (id, message["to"] ?? "")
        if isRefused { bounce(id, to: session) }
        file(message, body: body, of: session)
    }

    /// Archives a message of the client's, if the server archives such messages.
    func file(_ message: Element, body: String?, of session: ServerSession) {
        archive.file(
            message.children.map { $0.xml(in: "jabber:client") }.joined(), body: body, id: message["id"] ?? "",
            from: server.address(session), to: message["to"] ?? "", isLive: false,
            isArchivable: profile.archives(message))
    }

    /// A server on the way gives a message back that has arrived (measured: Prosody, when a connection between servers ends).
    func giveBack(_ id: String, of recipient: String, to resource: String) {
        returned.insert(id)
        let error = """
            <message type='error' id='\(id)' from='\(recipient)' to='\(server.account)/\(resource)'><error type='wait'>\
            <recipient-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></message>
            """
        server.route(error, to: resource)
    }

    private func bounce(_ id: String, to session: ServerSession) {
        let error = """
            <message type='error' id='\(id)' from='\(Self.nobody)' to='\(server.address(session))'>\
            <error type='cancel'><service-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></message>
            """
        let resource = session.resource
        world.after(world.random.pick(1000...200_000)) { [weak self] in self?.server.route(error, to: resource) }
    }
}

extension SimulatedServer {
    var messages: SimulatedMessages { feature() }
    /// See ``SimulatedMessages/taken``.
    var taken: [SimulatedMessages.Taken] { messages.taken }

    /// See ``SimulatedMessages/receive(_:from:isHidden:id:quoting:with:)``.
    func receive(_ body: String, from sender: String, isHidden: Bool = false) {
        messages.receive(body, from: sender, isHidden: isHidden)
    }
}
