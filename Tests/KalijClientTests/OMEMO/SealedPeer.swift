import Foundation
import KalijRatchet
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// A device of somebody's that encrypts for the account's device, with the ratchet alone.
final class SealedPeer {
    let jid: String
    let device: UInt32
    let dialect: OMEMOVersion
    let identity: Identity
    private let signed: KeyPair
    private let prekeys: [KeyPair]
    private(set) var session: Session?

    init(_ jid: String = "romeo@example.net", device: UInt32 = 7, _ dialect: OMEMOVersion = .axolotl) throws {
        (self.jid, self.device, self.dialect) = (jid, device, dialect)
        identity = try Identity(seed: Self.seed())
        signed = try KeyPair(secret: .random(32))
        prekeys = try (0..<3).map { _ in try KeyPair(secret: .random(32)) }
    }

    private static func seed() throws -> Secret {
        while true {
            let seed = try Secret.random(32)
            if (try? Identity(seed: seed)) != nil { return seed }
        }
    }

    /// The content of the peer's bundle.
    var bundle: Element {
        get throws {
            BundleElement(
                identity: dialect.written(identity.publicIdentity),
                signedPrekey: (1, dialect.written(signed.key)),
                signature: try identity.sign(signed.key, dialect),
                prekeys: prekeys.enumerated().map { (UInt32($0 + 1), dialect.written($1.key)) }
            ).element(dialect)
        }
    }

    /// Begins a session with the bundle of the account's device.
    /// - Parameter place: of the prekey in the bundle; nil for any prekey.
    func begin(_ harness: StepHarness, prekey place: Int? = nil) throws {
        let bundle = try harness.ownBundle(dialect)
        guard let place else {
            session = try Session.begin(identity, bundle.chosen(dialect), dialect)
            return
        }
        let chosen = try Bundle(
            dialect, identity: bundle.identity, signedPrekey: bundle.signedPrekey, signature: bundle.signature,
            prekey: bundle.prekeys[place])
        session = try Session.begin(identity, chosen, dialect)
    }

    /// Reads what the account has sent; nil for an empty message.
    func read(_ stanza: Element) throws -> String? {
        let element = try #require(EncryptedElement(stanza, dialect))
        let key = try #require(element.keys(for: device, of: jid).first)
        let opened: Session.Opened
        if key.isExchange, session == nil {
            let exchange = try KeyExchange(key.bytes, dialect)
            let fresh = try Session.accept(
                exchange, identity, signedPrekey: signed, prekey: prekeys[Int(exchange.prekeyID) - 1].secret, dialect)
            opened = try fresh.open(exchange.message) { _ in nil }
        } else {
            let message =
                try key.isExchange ? KeyExchange(key.bytes, dialect).message : RatchetMessage(key.bytes, dialect)
            opened = try #require(session).open(message) { _ in nil }
        }
        session = opened.session
        guard let payload = try element.payload else { return nil }
        return String(
            decoding: try Payload.open(payload, iv: element.iv, content: opened.content, dialect), as: UTF8.self)
    }

    /// The envelope that the account has sent in 2.
    func envelope(_ stanza: Element) throws -> Element { try Element.parse(#require(try read(stanza))) }

    /// An encrypted message for the account's device.
    /// - Parameters:
    ///   - damaging: which part is changed on the way; of several keys the first one.
    ///   - copies: how many keys there are for the account's device.
    ///   - own: a key for the peer's device itself.
    func message(
        _ text: String?, _ harness: StepHarness, id: String = UUID().uuidString, damaging: Part? = nil, copies: Int = 1,
        own: [UInt8]? = nil
    ) throws -> String {
        var session = try #require(session)
        let payload = try text.map { try Payload(Array($0.utf8), dialect) } ?? Payload(emptyIn: dialect)
        let receiver = try #require(try OwnDevice.id(of: harness.account.id, in: harness.database))
        var keys = own.map { [EncryptedElement.Key(device: device, isExchange: true, bytes: $0)] } ?? []
        for copy in 0..<copies {
            var (bytes, isExchange) = try session.seal(payload.content)
            // In a key exchange the id of the signed prekey comes after the message.
            if damaging == .key, copy == 0 { bytes[bytes.count - 4] ^= 1 }
            keys.append(EncryptedElement.Key(device: receiver, isExchange: isExchange, bytes: bytes))
        }
        self.session = session
        let element = EncryptedElement.element(payload, from: device, [("juliet@example.org", keys)], dialect)
        if damaging == .payload { element.child("payload")?.setText("AAAA") }
        let body = text == nil || dialect == .omemo2 ? "" : "<body>excuse</body>"
        return """
            <message from='\(jid)/orchard' to='juliet@example.org' type='chat' id='\(id)'>\(element.xml())\(body)\
            <store xmlns='urn:xmpp:hints'/></message>
            """
    }

    enum Part { case key, payload }
}

extension StepHarness {
    /// An account that uses OMEMO 2, and somebody's device that has begun a session in 2.
    static func withSecondVersion() throws -> (StepHarness, SealedPeer) {
        let harness = try StepHarness.caughtUp()
        try harness.publishKeys([.axolotl, .omemo2])
        let peer = try SealedPeer(device: 8, .omemo2)
        try peer.begin(harness)
        return (harness, peer)
    }

    /// The account's device has published its keys, and the archive was read.
    func publishKeys(_ formats: [OMEMOVersion] = [.axolotl]) throws {
        _ = try runner.run("test", for: account) { step in
            try OwnDevice.make(1234, in: step)
            try EnabledVersions(step: step).set(usesOMEMO2: formats.contains(.omemo2))
            for format in formats {
                try KeyPublicationRow.make(account.id, format, in: database)
                var row = try #require(try KeyPublicationRow.load(account.id, format, from: database))
                row.state = KeyPublicationState(.ready, isListed: true, isDue: false)
                row.publishedAt = step.steady.now
                try row.save(account.id, format, in: database)
                _ = try bundle(step, format)
            }
            try OwnDevice.set(isRead: true, in: step)
            try OwnDevice.set(isOpen: true, in: step)
        }
        try acknowledgeAll()
    }

    private func bundle(_ step: Step, _ dialect: OMEMOVersion) throws -> BundleElement {
        let device = try #require(try OwnDevice.load(account.id, from: database))
        return try OwnKeys(step: step, dialect: dialect).bundle(device.identity)
    }

    /// The bundle as it is published.
    func ownBundle(_ dialect: OMEMOVersion = .axolotl) throws -> BundleElement {
        var found: BundleElement?
        _ = try runner.run("test", for: account) { found = try bundle($0, dialect) }
        return try #require(found)
    }

    /// Everything that leaves now, as the driver lets it leave, and that the server acknowledges.
    func leave() throws -> [Element] {
        var stanzas: [Element] = []
        while case let more = try send().stanzas, !more.isEmpty {
            stanzas += more
            try acknowledgeAll()
        }
        return stanzas
    }

    /// The conversation with `jid` is encrypted.
    func encrypt(_ jid: String = "romeo@example.net") throws {
        _ = try runner.run("test", for: account) { try ConversationEncryption(step: $0).set(true, for: jid) }
    }

    /// Somebody answers the question for the list or the bundle.
    func answer(_ kind: String, by jid: String = "romeo@example.net", node: String, _ content: Element) throws {
        let ids = try database.prepare("SELECT id FROM request WHERE name = ?").all([.text("omemo." + kind)]) {
            $0.text()
        }
        for id in ids {
            try receive(
                """
                <iq type='result' id='\(id)' from='\(jid)'><pubsub xmlns='http://jabber.org/protocol/pubsub'>\
                <items node='\(node)'><item id='current'>\(content.xml())</item></items></pubsub></iq>
                """)
        }
    }

    /// Why the messages cannot be read, or nil, in their order.
    func problems() throws -> [String?] {
        try MessageReader(database: database, account: account.id).newest(100, with: nil)
            .map { $0.message.encryption?.problem?.rawValue }
    }
}
