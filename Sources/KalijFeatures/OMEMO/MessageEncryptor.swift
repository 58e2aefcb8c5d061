import KalijAddress
import KalijRatchet
import KalijCore
import KalijStore
import KalijText
import KalijXML

/// Encrypts a message of the user's, once: the same bytes are sent at each attempt.
struct MessageEncryptor {
    let step: Step
    let own: OwnDevice

    private static let hints = "urn:xmpp:hints"
    /// The body for clients without support for OMEMO.
    private static let fallback = "This message is encrypted with OMEMO, which your client does not support."

    struct Sealed {
        let bytes: [UInt8]
        /// 0.3 if any device receives the message in 0.3, which encrypts less.
        let weakest: OMEMOVersion
        /// `verified` if the key of each device that receives the message is, else `blind`.
        let trust: KeyTrust
        let leftOut: [String]
    }

    enum Outcome {
        case encrypted(Sealed)
        /// Nil if the missing keys were requested; else the reason why they are unavailable.
        case waits(String?)
        case failed(Reason)
    }

    /// - Parameter room: the room of the conversation.
    func encrypt(_ stanza: Element, in conversation: String, _ room: RoomRow?) throws -> Outcome {
        let text = stanza.child("body", "jabber:client")?.text
        var people = [JID.received(conversation)]
        if let room {
            guard room.info.isGroup else { return .failed(Reason(.roomNotPrivate)) }
            // Who has become a member meanwhile is to read the message, and who was removed is not.
            guard room.hasLists else { return .waits(nil) }
            people = try Members.all(of: room, in: step.database).map(\.jid)
        }
        // 0.3 encrypts only a text.
        let formats = try EnabledVersions(step: step).published.filter { text != nil || $0 == .omemo2 }
        guard !formats.isEmpty else { return .failed(Reason(.reactionNotEncryptable)) }
        switch try Recipients(step: step, own: own, formats: formats).find(people, isRoom: room != nil) {
        case .waits(let reason): return .waits(reason)
        case .failed(let reason): return .failed(text == nil ? Reason(.reactionNotEncryptable) : reason)
        case .all(let targets, let leftOut):
            return try seal(stanza, text ?? "", in: .received(conversation), for: targets, formats, leftOut)
        }
    }

    /// - Parameter conversation: the recipient, or the room.
    private func seal(
        _ stanza: Element, _ text: String, in conversation: JID, for targets: [Recipients.Target],
        _ formats: [OMEMOVersion], _ leftOut: [String]
    ) throws -> Outcome {
        let used = formats.filter { format in targets.contains { $0.device.dialect == format } }
        var sealed: [Recipients.Target] = []
        let parts = try used.map { format in
            let content =
                try format == .axolotl
                ? Array(text.utf8) : Envelope(stanza, from: step.account.jid, to: conversation.bare).bytes
            let payload = try Payload(content, format)
            var devices = targets.filter { $0.device.dialect == format }
            let keys = try seal(payload, for: &devices)
            sealed += devices
            return EncryptedElement.element(payload, from: own.id, keys, format)
        }
        let bytes = disguise(stanza, parts, used)
        do {
            try OutboundQueue(database: step.database, account: step.account.id).check(bytes)
        } catch let error as StanzaTooLong {
            return .failed(Reason(.tooLongEncrypted, "\(targets.count)", "\(error.bytes)", "\(error.limit)"))
        }
        for target in sealed {
            try RatchetSessions(step: step).save(target.row.session, in: target.row.id, place: nil)
        }
        let isVerified = sealed.allSatisfy { $0.trust == .verified }
        return .encrypted(
            Sealed(
                bytes: bytes, weakest: used.last ?? .axolotl, trust: isVerified ? .verified : .blind, leftOut: leftOut))
    }

    /// The keys for `targets`, whose sessions advance.
    func seal(
        _ payload: Payload, for targets: inout [Recipients.Target]
    ) throws -> [(address: String, keys: [EncryptedElement.Key])] {
        var keys: [(address: String, keys: [EncryptedElement.Key])] = []
        for place in targets.indices {
            let (bytes, isExchange) = try targets[place].row.session.seal(payload.content)
            let device = targets[place].device
            let key = EncryptedElement.Key(device: device.device, isExchange: isExchange, bytes: bytes)
            if keys.last?.address.exact == device.jid.description.exact {
                keys[keys.count - 1].keys.append(key)
            } else {
                keys.append((device.jid.description, [key]))
            }
        }
        return keys
    }

    /// The stanza with the encrypted parts instead of the text. Servers archive stanzas with a body, or with the hint. If all devices
    /// use 2, all parts that the envelope contains are removed, and no body is added (XEP-0420 section 6); devices of 0.3 require the
    /// other parts in plain.
    private func disguise(_ stanza: Element, _ parts: [Element], _ formats: [OMEMOVersion]) -> [UInt8] {
        let isPlainNeeded = formats.contains(.axolotl)
        for child in stanza.children where isPlainNeeded ? child.name == "body" : Envelope.isSecret(child) {
            child.remove()
        }
        for part in parts { stanza.add(part) }
        let method = isPlainNeeded ? OMEMOVersion.axolotl : .omemo2
        stanza.add(
            Element(
                "encryption", xmlns: "urn:xmpp:eme:0",
                attributes: ["namespace": method.namespace, "name": OMEMOVersion.methodName]))
        if isPlainNeeded { stanza.add(Element("body", xmlns: "jabber:client", text: Self.fallback)) }
        if stanza.child("store", Self.hints) == nil { stanza.add(Element("store", xmlns: Self.hints)) }
        return stanza.bytes(in: "jabber:client")
    }
}
