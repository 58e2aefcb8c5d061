import KalijAddress
import KalijRatchet
import KalijSteps
import KalijStore
import KalijXML

/// Encrypts a message of the user's, once: these bytes leave, now and whenever the message is sent again.
struct Encrypting {
    let step: Step
    let own: OwnDevice

    private var dialect: Dialect { .axolotl }
    private static let hints = "urn:xmpp:hints"
    /// For clients that do not know the method.
    private static let fallback = "This message is encrypted with OMEMO, which your client does not support."

    enum Outcome {
        /// The stanza, and the devices that cannot read it.
        case encrypted([UInt8], leftOut: [String])
        /// Nil if the missing keys were asked for; else why they cannot be had now.
        case waits(String?)
        case failed(String)
    }

    /// - Parameter room: the room of the conversation.
    func encrypt(_ stanza: Element, in conversation: String, _ room: RoomRow?) throws -> Outcome {
        guard let body = stanza.child("body", "jabber:client") else { return .failed("the message has no text") }
        var people = [JID.received(conversation)]
        if let room {
            guard room.info.isGroup else { return .failed(Recipients.openRoom) }
            people = try Members.all(of: room, in: step.database).map(\.jid)
        }
        switch try Recipients(step: step, own: own, dialect: dialect).find(people, isRoom: room != nil) {
        case .waits(let reason): return .waits(reason)
        case .failed(let reason): return .failed(reason)
        case .all(let targets, let leftOut):
            let payload = try Payload(Array(body.text.utf8), dialect)
            var sealed = targets
            let keys = try seal(payload, for: &sealed)
            let bytes = disguise(stanza, body, EncryptedElement.element(payload, from: own.id, keys, dialect))
            do {
                try OutboundQueue(database: step.database, account: step.account.id).check(bytes)
            } catch let error as StanzaTooLong {
                return .failed("encrypted for \(targets.count) devices, \(error)")
            }
            for target in sealed {
                try RatchetSessions(step: step).save(target.row.session, in: target.row.id, place: nil)
            }
            return .encrypted(bytes, leftOut: leftOut)
        }
    }

    /// The keys for `targets`, whose sessions go on.
    func seal(
        _ payload: Payload, for targets: inout [Recipients.Target]
    ) throws -> [(address: String, keys: [EncryptedElement.Key])] {
        var keys: [(address: String, keys: [EncryptedElement.Key])] = []
        for place in targets.indices {
            let (bytes, isExchange) = try targets[place].row.session.seal(payload.content)
            let device = targets[place].device
            let key = EncryptedElement.Key(device: device.device, isExchange: isExchange, bytes: bytes)
            if keys.last?.address == device.jid.description {
                keys[keys.count - 1].keys.append(key)
            } else {
                keys.append((device.jid.description, [key]))
            }
        }
        return keys
    }

    /// The stanza with the encrypted text instead of the text. Servers archive what has a body, and the hint.
    private func disguise(_ stanza: Element, _ body: Element, _ encrypted: Element) -> [UInt8] {
        body.remove()
        stanza.add(encrypted)
        stanza.add(
            Element(
                "encryption", xmlns: "urn:xmpp:eme:0",
                attributes: ["namespace": dialect.namespace, "name": Dialect.methodName]))
        stanza.add(Element("body", xmlns: "jabber:client", text: Self.fallback))
        if stanza.child("store", Self.hints) == nil { stanza.add(Element("store", xmlns: Self.hints)) }
        return stanza.bytes(in: "jabber:client")
    }
}
