import KalijXML

@testable import KalijFeatures
@testable import KalijRatchet

extension Violation.Promise {
    /// What is encrypted is read at the other end, once and in order, by nobody in between (XEP-0384).
    static let encryption = Violation.Promise("encryption")
}

/// A contact with encrypting devices, and the contact's server as far as the devices' keys are concerned. The account's own keys
/// are nodes as any others (``SimulatedNodes``).
final class SimulatedOMEMO: SimulatedFeature {
    static let contact = "benvolio@example.net"
    /// The beginning of the user's texts: no stanza of the client's may have it.
    static let secret = "secret-out-"
    private static let pubsub = "http://jabber.org/protocol/pubsub"
    private static let dialect = Dialect.axolotl

    unowned let server: SimulatedServer
    /// Whether there is an encrypted conversation.
    private(set) var isOn = false
    private var random = Seeded(0)
    private var devices: [SimulatedDevice] = []
    private var listed: [Bool] = []
    /// Whether the account's server tells of the contact's changes because of the presence; or because the client has subscribed.
    private var isContact = false
    private var isSubscribed = false
    let wire = Wire()
    /// The user's texts, by id; nobody but the judge knows them.
    private(set) var names: [String: String] = [:]
    /// The contact's texts.
    private(set) var heard: [Heard] = []
    /// The ids of messages that came once more.
    private(set) var repeated: Set<String> = []
    private var last: (content: String, id: String, device: Int)?
    /// Where the client's messages could not be read.
    private(set) var unread: [String] = []
    private var isHealing = false
    private var restores = 0

    struct Heard {
        let text: String
        let id: String
        let number: Int
        /// The account's devices that can read the text.
        let readers: Set<UInt32>
        /// How often the disk had been put back.
        let restores: Int
    }

    init(_ server: SimulatedServer) { self.server = server }

    func begin(seed: UInt64) {
        random = Seeded(seed &* 0xD6E8_FEB8_6659_FD93 &+ 13)
        isOn = true
        isContact = random.chance(50)
        if isContact { server.feature(SimulatedContacts.self).add(Self.contact) }
        listed = [true, random.chance(40)]
        devices = [4711, 4712].compactMap { try? SimulatedDevice($0) }
        // Another device of the account has made the list, for contacts alone, and has published no keys.
        guard random.chance(30), server.profile.hasNodes else { return }
        server.feature(SimulatedNodes.self).publish(
            Self.xml(DeviceList([77]).element(Self.dialect)), as: Dialect.listItem, to: Self.dialect.listNode
        ) {}
    }

    func name(_ text: String, _ id: String) { names[id] = text }
    /// The disk was put back: messages of before are perhaps encrypted once more, under other keys.
    func restored() {
        restores += 1
        wire.forgetStanzas()
    }

    /// Whether the account's server keeps nodes for keys.
    var keepsKeys: Bool { isOn && server.profile.hasNodes }

    /// Nobody asks for events of the nodes with bundles.
    static func isAnnounced(_ node: String) -> Bool { !node.hasPrefix(dialect.namespace + ".bundles") }

    static func isEncrypted(_ message: Element) -> Bool { message.child("encrypted", dialect.namespace) != nil }

    private static func xml(_ element: Element) -> String { element.xml(in: "jabber:client") }

    // MARK: The contact's server

    func forward(_ request: Element, to recipient: String, of session: ServerSession) -> Bool {
        guard isOn, recipient == Self.contact, let pubsub = request.child("pubsub", Self.pubsub) else { return false }
        let (id, resource) = (request["id"] ?? "", session.resource)
        server.world.after(random.pick(5000...400_000)) { [weak self] in
            guard let self else { return }
            let answer = answer(pubsub)
            server.route(
                """
                <iq type='\(answer == nil ? "error" : "result")' id='\(id)' from='\(recipient)' \
                to='\(server.account)/\(resource)'>\(answer ?? Self.notFound)</iq>
                """, to: resource)
        }
        return true
    }

    private static let notFound =
        "<error type='cancel'><item-not-found xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error>"

    /// Nil if there is no such node.
    private func answer(_ pubsub: Element) -> String? {
        if pubsub.child("subscribe") != nil {
            isSubscribed = true
            return ""
        }
        guard let node = pubsub.child("items")?["node"] else { return nil }
        if node == Self.dialect.listNode { return Self.items(of: node, list, Self.pubsub) }
        guard let device = devices.first(where: { Self.dialect.bundleNode($0.id) == node }),
            let bundle = try? device.bundle()
        else { return nil }
        return Self.items(of: node, Self.xml(bundle.element(Self.dialect)), Self.pubsub)
    }

    private static func items(of node: String, _ content: String, _ namespace: String) -> String {
        let name = namespace.hasSuffix("#event") ? "event" : "pubsub"
        return
            "<\(name) xmlns='\(namespace)'><items node='\(node)'><item id='current'>\(content)</item></items></\(name)>"
    }

    private var list: String {
        let ids = zip(devices, listed).filter(\.1).map(\.0.id)
        return Self.xml(DeviceList(ids).element(Self.dialect))
    }

    /// The second device comes into the list, or leaves it.
    func list(isListed: Bool) {
        listed[1] = isListed
        for session in server.sessions where session.isAvailable { tell(session) }
    }

    func present(_ presence: Element, of session: ServerSession) {
        guard isOn, isContact, presence["type"] == nil, presence["to"] == nil else { return }
        tell(session)
    }

    private func tell(_ session: ServerSession) {
        guard isContact || isSubscribed else { return }
        server.send(
            """
            <message from='\(Self.contact)' to='\(server.address(session))' type='headline' id='\(server.newID("n"))'>\
            \(Self.items(of: Self.dialect.listNode, list, Self.pubsub + "#event"))</message>
            """, to: session)
    }

    // MARK: The contact's devices

    /// The account's devices with keys.
    private func readers() -> [(id: UInt32, bundle: BundleElement)] {
        let nodes = server.feature(SimulatedNodes.self)
        let list = nodes.node(Self.dialect.listNode)?.newest.flatMap { try? Element.parse($0) }
            .flatMap { DeviceList($0, Self.dialect) }
        return (list?.devices ?? []).compactMap { id in
            let content = nodes.node(Self.dialect.bundleNode(id))?.newest.flatMap { try? Element.parse($0) }
            return content.flatMap { BundleElement($0, Self.dialect) }.map { (id, $0) }
        }
    }

    /// A device of the contact's says something, as soon as the account has keys.
    func say(_ text: String, _ device: Int, attempts: Int = 100) {
        let device = listed[device] ? device : 0
        guard !readers().isEmpty else {
            guard attempts > 0 else { return }
            return server.world.after(700_000) { [weak self] in self?.say(text, device, attempts: attempts - 1) }
        }
        guard let payload = try? Payload(Array(text.utf8), Self.dialect) else { return }
        send(payload, text, device)
    }

    private func send(_ payload: Payload, _ text: String?, _ device: Int) {
        let readers = readers()
        let keys = readers.compactMap { try? devices[device].seal(payload.content, for: $0.id, $0.bundle) }
        guard !keys.isEmpty else { return }
        let element = EncryptedElement.element(
            payload, from: devices[device].id, [(address: server.account, keys: keys)], Self.dialect)
        let content =
            Self.xml(element) + "<store xmlns='urn:xmpp:hints'/>"
            + (text == nil ? "" : "<body>You cannot read this.</body>")
        let message = server.messages.receiveEncrypted(content, text: text, from: address(device))
        guard let text else { return }
        last = (content, message.messageID, device)
        heard.append(
            Heard(
                text: text, id: message.messageID, number: message.number, readers: Set(readers.map(\.id)),
                restores: restores))
        server.world.counts.encrypted += 1
    }

    private func address(_ device: Int) -> String { "\(Self.contact)/device-\(device)" }

    /// The contact's last message comes once more.
    func repeatLast(isSame: Bool) {
        guard let last else { return }
        repeated.insert(last.id)
        server.messages.receiveEncrypted(
            last.content, text: nil, id: isSame ? last.id : nil, from: address(last.device))
    }

    // MARK: From the client

    /// Everything that the client sends.
    func look(at stanza: Element) {
        guard isOn else { return }
        wire.look(at: stanza)
    }

    func sent(_ message: Element, by session: ServerSession) {
        guard isOn, Self.isEncrypted(message), message["to"] == Self.contact else { return }
        server.messages.file(message, body: message["id"].flatMap { names[$0] }, of: session)
        guard let element = EncryptedElement(message, Self.dialect) else { return }
        for (place, device) in devices.enumerated() {
            for key in element.keys(for: device.id, of: Self.contact) { read(element, key, place) }
        }
    }

    private func read(_ element: EncryptedElement, _ key: EncryptedElement.Key, _ place: Int) {
        switch devices[place].read(element, key) {
        case .again, .read(_, isNew: false): break
        case .read(let text, isNew: true):
            server.world.trace("   device \(place) reads \(text ?? "an empty message") in a new session")
            answer(place, { _ in })
        case .failed(let problem):
            server.world.trace("   device \(place) cannot read: \(problem)")
            unread.append(problem)
            // Somebody's client begins a new session then.
            answer(place) { [devices] in try? devices[place].begin($0.id, $0.bundle) }
        }
    }

    /// A device answers with an empty message.
    private func answer(_ place: Int, _ prepare: @escaping ((id: UInt32, bundle: BundleElement)) -> Void) {
        server.world.after(random.pick(1000...500_000)) { [weak self] in
            guard let self, let payload = try? Payload(emptyIn: Self.dialect) else { return }
            readers().forEach(prepare)
            send(payload, nil, place)
        }
    }

    /// The texts that a device of the contact's has read, in order.
    func texts(of device: Int) -> [String] { devices.isEmpty ? [] : devices[device].texts }
}

extension SimulatedServer {
    var omemo: SimulatedOMEMO { feature() }
}
