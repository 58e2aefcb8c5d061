import KalijAddress
import KalijXML

@testable import KalijCore
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

    unowned let server: SimulatedServer
    /// Whether there is an encrypted conversation.
    private(set) var isOn = false
    /// Whether the account uses 2 from the beginning.
    private(set) var usesOMEMO2 = false
    var random = Seeded(0)
    /// What servers do that have no key.
    private var forger = Seeded(0)
    private(set) var devices: [SimulatedDevice] = []
    private(set) var listed: [Bool] = []
    /// Whether the account's server tells of the contact's changes because of the presence; or because the client has subscribed.
    private(set) var isContact = false
    var subscriptions: Set<String> = []
    let wire = Wire()
    /// The user's texts, by id; nobody but the judge knows them.
    private(set) var names: [String: String] = [:]
    /// The contact's texts.
    private(set) var heard: [Heard] = []
    /// The ids of messages that came once more.
    private(set) var repeated: Set<String> = []
    /// The ids under which messages came once more, by the messages' own ids.
    private(set) var copies: [String: [String]] = [:]
    private var last: (content: String, id: String, device: Int)?
    /// Where the client's messages could not be read.
    private(set) var unread: [String] = []
    private var isHealing = false
    /// The devices that have read something since the disk was put back.
    private var answered: Set<Int> = []

    struct Heard {
        let text: String
        let id: String
        let number: Int
        /// The account's devices that can read the text.
        let readers: Set<UInt32>
        /// Whether the device had read something of the client's since the disk was put back: its session is a known one.
        let isAnswered: Bool
    }

    init(_ server: SimulatedServer) { self.server = server }

    func begin(seed: UInt64) {
        random = Seeded(seed &* 0xD6E8_FEB8_6659_FD93 &+ 13)
        forger = Seeded(seed &* 0x9FB2_1C65_1E98_DF25 &+ 19)
        isOn = true
        isContact = random.chance(50)
        if isContact { server.feature(SimulatedContacts.self).add(Self.contact) }
        listed = [true, random.chance(40)]
        // Drawn from a generator of its own.
        var choice = Seeded(seed &* 0xA24B_AED4_963E_E407 &+ 17)
        usesOMEMO2 = choice.chance(34)
        devices = ([4711, 4712] as [UInt32]).compactMap { id in
            let formats: [OMEMOVersion] = choice.pick(weighted: [
                (1, [.omemo2]), (1, [.axolotl]), (1, [.omemo2, .axolotl]),
            ])
            return try? SimulatedDevice(id, usesOMEMO2 ? formats : [.axolotl])
        }
        // Another device of the account has made the list, for contacts alone, and has published no keys.
        guard random.chance(30), server.profile.hasNodes else { return }
        for dialect in usesOMEMO2 && choice.chance(50) ? OMEMOVersion.allCases : [.axolotl] {
            server.feature(SimulatedNodes.self).publish(
                Self.xml(DeviceList([77]).element(dialect)), as: OMEMOVersion.listItem, to: dialect.listNode
            ) {}
        }
    }

    /// The second device comes into the list, or leaves it.
    func list(isListed: Bool) {
        listed[1] = isListed
        for session in server.sessions where session.isAvailable { tell(session) }
    }

    func name(_ text: String, _ id: String) { names[id] = text }
    /// The disk was put back: messages of before are perhaps encrypted once more, under other keys.
    func restored() {
        answered = []
        wire.restored()
    }

    /// Whether the account's server keeps nodes for keys.
    var keepsKeys: Bool { isOn && server.profile.hasNodes }

    static func isEncrypted(_ message: Element) -> Bool { EncryptedElement.isMeant(by: message) }

    static func xml(_ element: Element) -> String { element.xml(in: "jabber:client") }

    // MARK: The contact's devices

    /// A device of the account's with keys, in the format that a device of the contact's prefers.
    private struct Reader {
        let id: UInt32
        let bundle: BundleElement
        let dialect: OMEMOVersion
    }

    /// The account's devices with keys that the contact's device can write to.
    private func readers(for device: Int) -> [Reader] {
        let nodes = server.feature(SimulatedNodes.self)
        func content(_ node: String, _ id: String) -> Element? {
            nodes.node(node)?.content(of: id).flatMap { try? Element.parse($0) }
        }
        var readers: [Reader] = []
        for dialect in [OMEMOVersion.omemo2, .axolotl] where devices[device][dialect] != nil {
            let list = content(dialect.listNode, OMEMOVersion.listItem).flatMap { DeviceList($0, dialect) }
            for id in list?.devices ?? [] where !readers.contains(where: { $0.id == id }) {
                let bundle = content(dialect.bundleNode(id), dialect.bundleItem(id))
                guard let bundle = bundle.flatMap({ BundleElement($0, dialect) }) else { continue }
                readers.append(Reader(id: id, bundle: bundle, dialect: dialect))
            }
        }
        return readers
    }

    /// A device of the contact's says something, as soon as the account has keys.
    func say(_ text: String, _ device: Int, attempts: Int = 100) {
        let device = listed[device] ? device : 0
        guard !readers(for: device).isEmpty else {
            guard attempts > 0 else { return }
            return server.world.after(700_000) { [weak self] in self?.say(text, device, attempts: attempts - 1) }
        }
        send(text, device)
    }

    /// - Parameter text: nil for an empty message.
    private func send(_ text: String?, _ device: Int) {
        let readers = readers(for: device)
        guard let content = content(text, from: devices[device], for: readers) else { return }
        let message = server.messages.receiveEncrypted(content, text: text, from: address(device))
        guard let text else { return }
        server.world.trace("   device \(device) says \(text) as \(message.messageID)")
        last = (content, message.messageID, device)
        heard.append(
            Heard(
                text: text, id: message.messageID, number: message.number, readers: Set(readers.map(\.id)),
                isAnswered: answered.contains(device)))
        server.world.counts.encrypted += 1
        if readers.contains(where: { $0.dialect == .omemo2 }) { server.world.counts.encryptedIn2 += 1 }
        if forger.chance(15) { forge(retractionOf: message.messageID, device) }
    }

    /// Nil if nobody can read what the device says.
    private func content(_ text: String?, from device: SimulatedDevice, for readers: [Reader]) -> String? {
        var content = ""
        for dialect in [OMEMOVersion.omemo2, .axolotl] {
            guard let ratchets = device[dialect], let payload = payload(text, dialect) else { continue }
            let keys = readers.filter { $0.dialect == dialect }
                .compactMap { try? ratchets.seal(payload.content, for: $0.id, $0.bundle) }
            guard !keys.isEmpty else { continue }
            content += Self.xml(
                EncryptedElement.element(payload, from: device.id, [(address: server.account, keys: keys)], dialect))
            if dialect == .axolotl, text != nil { content += "<body>You cannot read this.</body>" }
        }
        return content.isEmpty ? nil : content + "<store xmlns='urn:xmpp:hints'/>"
    }

    /// An occupant of a room that hides addresses writes under the number of the contact's device, with a key of its own, and in a new
    /// session each time.
    func impersonate() {
        let readers = readers(for: 0)
        let formats = OMEMOVersion.allCases.filter { devices[0][$0] != nil }
        guard let occupant = try? SimulatedDevice(devices[0].id, formats),
            let content = content("forged", from: occupant, for: readers)
        else { return }
        server.world.trace("   an occupant of the room writes as the contact's device")
        server.feature(SimulatedMUC.self).say(content: content)
    }

    /// A server takes a text back in the contact's name, without a key: nothing happens to the text.
    private func forge(retractionOf id: String, _ device: Int) {
        server.world.after(forger.pick(1000...2_000_000)) { [weak self] in
            guard let self else { return }
            server.world.trace("   a server retracts \(id) in the contact's name")
            server.messages.receive(
                SimulatedOperation.retraction(of: id).content + "<store xmlns='urn:xmpp:hints'/>", from: address(device)
            )
        }
    }

    private func payload(_ text: String?, _ dialect: OMEMOVersion) -> Payload? {
        guard let text else { return try? Payload(emptyIn: dialect) }
        guard dialect == .omemo2 else { return try? Payload(Array(text.utf8), dialect) }
        guard let contact = try? JID(Self.contact), let account = try? JID(server.account) else { return nil }
        let stanza = Element("message", xmlns: "jabber:client")
        stanza.add(Element("body", xmlns: "jabber:client", text: text))
        let envelope = Envelope(stanza, from: contact, to: account)
        return try? Payload(envelope.bytes, dialect)
    }

    private func address(_ device: Int) -> String { "\(Self.contact)/device-\(device)" }

    /// The contact's last message comes once more.
    func repeatLast(isSame: Bool) {
        guard let last else { return }
        repeated.insert(last.id)
        let message = server.messages.receiveEncrypted(
            last.content, text: nil, id: isSame ? last.id : nil, from: address(last.device))
        copies[last.id, default: []].append(message.messageID)
    }

    /// The ids, and the ids of messages of which a copy has one of them: whichever comes first is stored.
    func withCopies(_ ids: Set<String>) -> Set<String> {
        ids.union(copies.filter { !ids.isDisjoint(with: $0.value) }.keys)
    }

    // MARK: From the client

    /// A process has written to the network, whether anything arrives or not.
    func left(_ bytes: [UInt8]) {
        guard isOn else { return }
        wire.left(String(decoding: bytes, as: UTF8.self))
    }

    /// Everything that comes from the client.
    func look(at stanza: Element) {
        guard isOn else { return }
        wire.came(stanza)
    }

    func sent(_ message: Element, by session: ServerSession) {
        guard isOn, Self.isEncrypted(message), message["to"] == Self.contact else { return }
        server.messages.file(message, body: message["id"].flatMap { names[$0] }, of: session)
        for element in [OMEMOVersion.omemo2, .axolotl].compactMap({ EncryptedElement(message, $0) }) {
            for (place, device) in devices.enumerated() {
                for key in element.keys(for: device.id, of: Self.contact) { read(element, key, place) }
            }
        }
    }

    private func read(_ element: EncryptedElement, _ key: EncryptedElement.Key, _ place: Int) {
        if element.dialect == .omemo2 { server.world.counts.encryptedIn2 += 1 }
        let outcome = devices[place].read(element, key, (from: server.account, to: Self.contact))
        if case .read = outcome { answered.insert(place) }
        switch outcome {
        case .again, .read(_, isNew: false): break
        case .read(let text, isNew: true):
            server.world.trace("   device \(place) reads \(text ?? "an empty message") in a new session")
            answer(place, beginningIn: nil)
        case .failed(let problem):
            server.world.trace("   device \(place) cannot read: \(problem)")
            unread.append(problem)
            // Somebody's client begins a new session then.
            answer(place, beginningIn: element.dialect)
        }
    }

    /// A device answers with an empty message, perhaps in a new session.
    private func answer(_ place: Int, beginningIn dialect: OMEMOVersion?) {
        server.world.after(random.pick(1000...500_000)) { [weak self] in
            guard let self else { return }
            for reader in readers(for: place) where reader.dialect == dialect {
                try? devices[place][reader.dialect]?.begin(reader.id, reader.bundle)
            }
            send(nil, place)
        }
    }

    /// The texts that a device of the contact's has read, in order.
    func texts(of device: Int) -> [String] { devices.isEmpty ? [] : devices[device].texts }
}

extension SimulatedServer {
    var omemo: SimulatedOMEMO { feature() }
}
