import KalijXML

@testable import KalijFeatures
@testable import KalijRatchet

/// What a device of a contact's has in a format, as somebody's client would: its keys, its sessions with the account's devices.
final class SimulatedRatchets {
    let dialect: OMEMOVersion
    private let identity: Identity
    private let signed: KeyPair
    private var prekeys: [UInt32: KeyPair] = [:]
    private var lastPrekey: UInt32 = 0
    /// By the account's devices; the first one sends.
    private var sessions: [UInt32: [Entry]] = [:]

    private struct Entry {
        var session: Session
        var kept: [Session.SkippedKey.Name: Secret] = [:]
    }

    init(_ identity: Identity, _ dialect: OMEMOVersion) throws {
        (self.identity, self.dialect, signed) = (identity, dialect, try KeyPair.make())
        try refill()
    }

    private func refill() throws {
        while prekeys.count < 30 {
            lastPrekey += 1
            prekeys[lastPrekey] = try KeyPair.make()
        }
    }

    func bundle() throws -> BundleElement {
        BundleElement(
            identity: dialect.written(identity.publicIdentity),
            signedPrekey: (1, dialect.written(signed.key)), signature: try identity.sign(signed.key, dialect),
            prekeys: prekeys.sorted { $0.key < $1.key }.map { ($0.key, dialect.written($0.value.key)) })
    }

    // MARK: Sending

    /// Seals `content` for the account's device `device`, whose bundle is fetched if there is no session.
    func seal(_ content: Secret, for device: UInt32, _ bundle: BundleElement) throws -> EncryptedElement.Key {
        if sessions[device]?.isEmpty ?? true { try begin(device, bundle) }
        guard let sealed = try sessions[device]?[0].session.seal(content) else { throw RatchetError.keyGone }
        return EncryptedElement.Key(device: device, isExchange: sealed.isExchange, bytes: sealed.bytes)
    }

    /// Begins a session, which sends from now on.
    func begin(_ device: UInt32, _ bundle: BundleElement) throws {
        let session = try Session.begin(identity, bundle.chosen(dialect), dialect)
        sessions[device, default: []].insert(Entry(session: session), at: 0)
    }

    // MARK: Reading

    func open(_ key: EncryptedElement.Key, from device: UInt32) throws -> (content: Secret, isNew: Bool) {
        guard key.isExchange else {
            return (try open(RatchetMessage(key.bytes, dialect), from: device, among: nil), false)
        }
        let exchange = try KeyExchange(key.bytes, dialect)
        if let place = sessions[device]?.firstIndex(where: { $0.session.isOf(exchange) }) {
            return (try open(exchange.message, from: device, among: place), false)
        }
        guard let prekey = prekeys[exchange.prekeyID] else { throw RatchetError.keyGone }
        let session = try Session.accept(exchange, identity, signedPrekey: signed, prekey: prekey.secret, dialect)
        sessions[device, default: []].append(Entry(session: session))
        let content = try open(exchange.message, from: device, among: (sessions[device]?.count ?? 1) - 1)
        prekeys[exchange.prekeyID] = nil
        try refill()
        return (content, true)
    }

    /// - Parameter place: the message's session; nil for any session.
    private func open(_ message: RatchetMessage, from device: UInt32, among place: Int?) throws -> Secret {
        var failure = RatchetError.keyGone
        for (index, entry) in (sessions[device] ?? []).enumerated() where place == nil || place == index {
            var entry = entry
            do {
                let opened = try entry.session.open(message) { entry.kept[$0] }
                entry.session = opened.session
                if let used = opened.used { entry.kept[used] = nil }
                for key in opened.skipped { entry.kept[key.name] = key.messageKey }
                // Whoever has just been heard in a session is answered in it.
                sessions[device]?.remove(at: index)
                sessions[device]?.insert(entry, at: 0)
                return opened.content
            } catch let error as RatchetError { failure = error }
        }
        throw failure
    }
}

/// A device of a contact's.
final class SimulatedDevice {
    let id: UInt32
    /// By format: what the device can read.
    private let ratchets: [OMEMOVersion: SimulatedRatchets]
    /// What was read: the bytes of the keys.
    private var seen: Set<[UInt8]> = []
    /// The texts that were read, in order.
    private(set) var texts: [String] = []

    init(_ id: UInt32, _ formats: [OMEMOVersion]) throws {
        self.id = id
        let identity = try Identity.make()
        ratchets = try Dictionary(uniqueKeysWithValues: formats.map { ($0, try SimulatedRatchets(identity, $0)) })
    }

    /// Nil for a format that the device does not know.
    subscript(dialect: OMEMOVersion) -> SimulatedRatchets? { ratchets[dialect] }

    enum Outcome {
        /// Known already.
        case again
        /// A message in a session; `isNew`: the session was begun with it.
        case read(String?, isNew: Bool)
        case failed(String)
    }

    /// - Parameter addresses: what an envelope has to name: sender and recipient.
    func read(
        _ element: EncryptedElement, _ key: EncryptedElement.Key, _ addresses: (from: String, to: String)
    ) -> Outcome {
        guard seen.insert(key.bytes).inserted, let ratchets = ratchets[element.dialect] else { return .again }
        do {
            let (content, isNew) = try ratchets.open(key, from: element.sender)
            guard let payload = try element.payload else { return .read(nil, isNew: isNew) }
            let bytes = try Payload.open(payload, iv: element.iv, content: content, element.dialect)
            let text =
                element.dialect == .axolotl
                ? String(decoding: bytes, as: UTF8.self) : try Self.text(ofEnvelope: bytes, addresses)
            texts.append(text)
            return .read(text, isNew: isNew)
        } catch { return .failed("\(error)") }
    }

    struct WrongEnvelope: Error { let envelope: String }

    /// The text in an envelope that is addressed rightly.
    private static func text(ofEnvelope bytes: [UInt8], _ addresses: (from: String, to: String)) throws -> String {
        let envelope = try Element.parse(bytes)
        guard envelope.isNamed("envelope", "urn:xmpp:sce:1"), envelope.child("from")?["jid"] == addresses.from,
            envelope.child("to")?["jid"] == addresses.to, envelope.child("rpad") != nil,
            let body = envelope.child("content")?.child("body", "jabber:client")
        else { throw WrongEnvelope(envelope: String(decoding: bytes, as: UTF8.self)) }
        return body.text
    }
}
