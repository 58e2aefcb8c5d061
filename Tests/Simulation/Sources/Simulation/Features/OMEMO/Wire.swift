import KalijXML

@testable import KalijFeatures
@testable import KalijRatchet

/// What the server has seen of the client's stanzas, ever.
final class Wire {
    /// How often each message came, by id.
    private(set) var count: [String: Int] = [:]
    private(set) var faults: [String] = []
    /// The bytes of each message, by id.
    private var stanzas: [String: String] = [:]
    /// What was sealed with each key of a ratchet.
    private var sealed: [Name: [UInt8]] = [:]

    private struct Name: Hashable {
        let device: UInt32
        let header: RatchetMessage.Header
    }

    func forgetStanzas() { stanzas = [:] }

    func look(at stanza: Element) {
        let xml = stanza.xml(in: "jabber:client")
        if let range = xml.firstRange(of: SimulatedOMEMO.secret) {
            note("the server sees \(xml[range.lowerBound...].prefix(20))")
        }
        guard stanza.name == "message", SimulatedOMEMO.isEncrypted(stanza), let id = stanza["id"] else { return }
        count[id, default: 0] += 1
        if let before = stanzas.updateValue(xml, forKey: id), before != xml {
            note("\(id) was sent again as other bytes")
        }
        guard let element = EncryptedElement(stanza, .axolotl) else { return note("\(id) has no keys") }
        for key in stanza.child("encrypted")?.child("header")?.children("key") ?? [] {
            guard let bytes = key.bytesOfBase64() else { continue }
            look(at: bytes, key["prekey"] != nil, of: element.sender, id)
        }
    }

    private func look(at bytes: [UInt8], _ isExchange: Bool, of device: UInt32, _ id: String) {
        let message = try? isExchange ? KeyExchange(bytes, .axolotl).message : RatchetMessage(bytes, .axolotl)
        guard let message else { return note("a key of \(id) is malformed") }
        // Without the length of the chain before: the name of a key is the ratchet key and the number.
        let name = Name(
            device: device,
            header: RatchetMessage.Header(key: message.header.key, number: message.header.number, previous: 0))
        let content = Array(message.authenticated) + Array(message.mac)
        if let before = sealed.updateValue(content, forKey: name), before != content {
            note("the key \(message.header.number) of a chain was used twice, the second time in \(id)")
        }
    }

    private func note(_ fault: String) { if !faults.contains(fault) { faults.append(fault) } }
}
