import Foundation
import KalijRatchet
import Testing

/// The keys of a device, as its address has published them (0.3).
struct PublishedBundle {
    let device: Int
    let identity: [UInt8]
    let signed: (id: UInt32, key: [UInt8])
    let signature: [UInt8]
    private(set) var prekeys: [(id: UInt32, key: [UInt8])]

    /// - Parameter xml: an answer with the bundle.
    init(_ xml: String, device: Int) throws {
        self.device = device
        func bytes(_ text: Substring) throws -> [UInt8] {
            [UInt8](try #require(Data(base64Encoded: String(text)), "\(text)"))
        }
        func one(_ name: String) throws -> [UInt8] {
            let match = try #require(
                try xml.firstMatch(of: Regex("<(?:\\w+:)?\(name)[^>]*>([^<]*)<")), "\(name): \(xml)")
            return try bytes(match.output[1].substring ?? "")
        }
        identity = try one("identityKey")
        let id = try #require(xml.firstMatch(of: /signedPreKeyId="(\d+)"/)?.output.1)
        signed = (try #require(UInt32(id)), try one("signedPreKeyPublic"))
        signature = try one("signedPreKeySignature")
        prekeys = try xml.matches(of: /preKeyId="(\d+)"[^>]*>([^<]+)</).map {
            (try #require(UInt32($0.output.1)), try bytes($0.output.2))
        }
    }

    /// What a session with the device is begun with; each prekey is given once.
    mutating func next() throws -> KalijRatchet.Bundle {
        let last = prekeys.popLast()
        let prekey = try #require(last, "no prekeys are left")
        return try KalijRatchet.Bundle(
            .axolotl, identity: identity, signedPrekey: signed, signature: signature, prekey: prekey)
    }

    /// With the same prekey each time.
    func same() throws -> KalijRatchet.Bundle {
        try KalijRatchet.Bundle(
            .axolotl, identity: identity, signedPrekey: signed, signature: signature,
            prekey: try #require(prekeys.first))
    }
}

/// Stanzas of a hostile address for a device of the account alice's.
struct HostileDevices {
    let random: RandomChoices
    /// The device of alice.
    let receiver: Int
    /// An address of a component; nil for the client's own.
    var sender: String?

    struct Key {
        var receiver: Int
        var bytes: [UInt8]
        var isExchange = true
    }

    // MARK: Stanzas

    /// A message, as hostile as its parts.
    func message(
        _ device: String, _ keys: [Key], iv: String? = "AAAAAAAAAAAAAAAA", payload: String? = "AAAA",
        namespace: String = "eu.siacs.conversations.axolotl"
    ) -> String {
        let parts = keys.map {
            "<key rid='\($0.receiver)'\($0.isExchange ? " prekey='true'" : "")>\(Data($0.bytes).base64EncodedString())</key>"
        }
        return stanza(
            """
            <encrypted xmlns='\(namespace)'><header sid='\(device)'>\(parts.joined())\
            \(iv.map { "<iv>\($0)</iv>" } ?? "")</header>\(payload.map { "<payload>\($0)</payload>" } ?? "")</encrypted>
            """)
    }

    func stanza(_ content: String) -> String {
        let from = sender.map { " from='\($0)'" } ?? ""
        return """
            <message to='alice@localhost'\(from) type='chat' id='\(UUID().uuidString)'>\(content)<body>a lure</body>\
            <store xmlns='urn:xmpp:hints'/></message>
            """
    }

    /// A text for the device, sealed in `session`.
    func text(_ text: String, _ session: inout Session, device: Int) throws -> String {
        let payload = try Payload(Array(text.utf8), .axolotl)
        let (bytes, isExchange) = try session.seal(payload.content)
        let key = Key(receiver: receiver, bytes: bytes, isExchange: isExchange)
        return message(
            "\(device)", [key], iv: payload.iv.map { Data($0).base64EncodedString() },
            payload: payload.sealed.map { Data($0).base64EncodedString() })
    }

    /// A session whose second message leaves 1,000 keys behind, and with `more` another 1,000.
    func full(_ bundle: KalijRatchet.Bundle, device: Int, more: Bool = false) throws -> [String] {
        var session = try Session.begin(Identity.make(), bundle, .axolotl)
        var stanzas = [try text("\(device) begins", &session, device: device)]
        for round in 0...(more ? 1 : 0) {
            let secret = try Secret.random(32)
            for _ in 0..<1000 { _ = try session.seal(secret) }
            stanzas.append(try text("\(device) goes on \(round)", &session, device: device))
        }
        return stanzas
    }

    /// A text that begins a session; of a stranger, for example.
    func first(_ words: String, _ bundle: KalijRatchet.Bundle, device: Int) throws -> String {
        var session = try Session.begin(Identity.make(), bundle, .axolotl)
        return try text(words, &session, device: device)
    }
}
