import KalijAddress
import KalijRatchet
import KalijText
import KalijXML

/// The plaintext that OMEMO 2 encrypts: parts of the stanza, and affixes that bind them to it (XEP-0420, with the profile of XEP-0384
/// section 5.5.1).
struct Envelope {
    /// The parts of the stanza that only the recipients see.
    let content: [Element]
    /// The bare address of the sender; nil if the envelope does not specify it.
    let from: JID?
    /// The bare address of the recipient, or the room; nil if the envelope does not specify it.
    let to: JID?

    private static let namespace = "urn:xmpp:sce:1"
    /// In bytes: the content is padded to `size`, plus a random number of up to `more` bytes (XEP-0420 section 3).
    private static let (size, more): (Int, UInt32) = (128, 200)

    /// - Parameters:
    ///   - stanza: the unencrypted message.
    ///   - account: the sender.
    ///   - recipient: the bare address of the recipient, or the room.
    init(_ stanza: Element, from account: JID, to recipient: JID) {
        (content, from, to) = (stanza.children.filter(Self.isSecret).map { $0.copy() }, account, recipient)
    }

    // MARK: Bytes

    /// The serialized envelope, ready for encryption.
    /// - Throws: `RatchetError.library`
    var bytes: [UInt8] {
        get throws {
            let content = Element("content", xmlns: Self.namespace, children: content)
            let missing = max(0, Self.size - content.bytes().count)
            let count = missing + Int(try RandomNumber.from(0...Self.more))
            let envelope = Element("envelope", xmlns: Self.namespace, children: [content])
            envelope.add(Element("rpad", xmlns: Self.namespace, text: try Self.padding(count)))
            if let from { envelope.add(Element("from", xmlns: Self.namespace, attributes: ["jid": from.description])) }
            if let to { envelope.add(Element("to", xmlns: Self.namespace, attributes: ["jid": to.description])) }
            return envelope.bytes()
        }
    }

    private static func padding(_ count: Int) throws -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
        return String(try (0..<count).map { _ in letters[Int(try RandomNumber.from(0...61))] })  // fits: 62 letters
    }

    /// - Throws: `RatchetError.malformed` for anything but an envelope.
    init(_ bytes: [UInt8]) throws {
        guard let envelope = try? Element.parse(bytes), envelope.isNamed("envelope", Self.namespace),
            let content = envelope.child("content")
        else { throw RatchetError.malformed("the envelope") }
        self.content = content.children.filter(Self.isSecret)
        func address(_ name: String) throws -> JID? {
            guard let affix = envelope.child(name) else { return nil }
            guard let jid = affix["jid"].flatMap(JID.prepared) else { throw RatchetError.malformed("the envelope") }
            return jid.bare
        }
        (from, to) = (try address("from"), try address("to"))
    }

    /// - Parameters:
    ///   - recipient: the bare address of the recipient, or the room.
    ///   - isRoom: whether the stanza was received from a room: the envelope then has to specify the room.
    /// - Throws: `RatchetError.malformed` if the content was encrypted for another recipient, or by another sender.
    func check(from sender: JID, to recipient: JID, isRoom: Bool) throws {
        guard from ?? sender.bare == sender.bare, to ?? recipient == recipient, to != nil || !isRoom else {
            throw RatchetError.malformed("the envelope is of another message")
        }
    }

    // MARK: Parts of stanzas

    /// The decrypted stanza: parts that only the envelope may contain are ignored elsewhere (XEP-0420 section 9).
    func opened(_ stanza: Element) -> Element {
        let opened = stanza.copy()
        for child in opened.children where Self.isSecret(child) { child.remove() }
        for part in content { opened.add(part.copy()) }
        return opened
    }

    /// Whether a part of a stanza is for the recipients alone. All other parts are for servers and rooms, or added by them, and are
    /// ignored in an envelope (XEP-0420 section 8).
    static func isSecret(_ part: Element) -> Bool {
        switch part.namespace ?? "" {
        case "jabber:client": ["body", "subject", "thread"].contains(part.name)
        case let namespace where OMEMOVersion(namespace: namespace) != nil: part.name == "opt-out"
        case "http://jabber.org/protocol/chatstates": true
        case let namespace: !outer.contains { namespace.begins(with: $0) }
        }
    }

    /// The prefixes of the namespaces.
    private static let outer = [
        "urn:xmpp:hints", "urn:xmpp:sid:", "urn:xmpp:eme:", "urn:xmpp:sce:", "urn:xmpp:delay", "urn:xmpp:carbons:",
        "urn:xmpp:forward:", "urn:xmpp:mam:", "urn:xmpp:occupant-id:", "urn:xmpp:message-moderate:",
        "http://jabber.org/protocol/", "jabber:x:delay", "jabber:x:conference", "urn:ietf:params:xml:ns:",
    ]
}
