import KalijXML

@testable import KalijFeatures
@testable import KalijRatchet

/// What has left the client's processes, ever, and what the server has seen of it.
final class Wire {
    /// How often each message came, by id.
    private(set) var count: [String: Int] = [:]
    private(set) var faults: [String] = []
    /// The bytes of each message, by id.
    private var stanzas: [String: String] = [:]
    /// What was sealed with each key of a ratchet: what has left, and what has come.
    private var (leaving, coming): (Sealed, Sealed) = ([:], [:])

    private typealias Sealed = [Name: [UInt8]]

    private struct Name: Hashable {
        let dialect: OMEMOVersion
        let device: UInt32
        let header: RatchetMessage.Header
    }

    /// The disk was put back. What has left since the backup, and has come to nobody, the disk cannot know.
    func restored() { (stanzas, leaving) = ([:], [:]) }

    /// A message has come to the server.
    func came(_ stanza: Element) {
        guard stanza.name == "message", SimulatedOMEMO.isEncrypted(stanza), let id = stanza["id"] else { return }
        count[id, default: 0] += 1
        look(at: stanza, id, &coming)
    }

    /// A process has written to the network, whether anything arrives or not.
    func left(_ text: String) {
        if let range = text.firstRange(of: SimulatedOMEMO.secret) {
            note("the server sees \(text[range.lowerBound...].prefix(20))")
        }
        var rest = text[...]
        while let begin = rest.firstRange(of: "<message"), let end = rest.firstRange(of: "</message>") {
            let xml = String(rest[begin.lowerBound..<end.upperBound])
            rest = rest[end.upperBound...]
            if let stanza = try? Element.parse(xml) { left(stanza, xml) }
        }
    }

    private func left(_ stanza: Element, _ xml: String) {
        guard SimulatedOMEMO.isEncrypted(stanza), let id = stanza["id"] else { return }
        if let before = stanzas.updateValue(xml, forKey: id), before != xml {
            note("\(id) was sent again as other bytes")
        }
        look(at: stanza, id, &leaving)
    }

    private func look(at stanza: Element, _ id: String, _ sealed: inout Sealed) {
        let parts = OMEMOVersion.allCases.compactMap { EncryptedElement(stanza, $0) }
        guard !parts.isEmpty else { return note("\(id) has no keys") }
        var devices: Set<String> = []
        for part in parts {
            let header = stanza.child("encrypted", part.dialect.namespace)?.child("header")
            let keys = (header?.children("key") ?? []) + (header?.children("keys") ?? []).flatMap { $0.children("key") }
            for key in keys {
                let device = key["rid"] ?? ""
                // The contact's devices and the account's have different ids here.
                guard devices.insert(device).inserted else {
                    note("\(id) has two keys for the device \(device)"); continue
                }
                guard let bytes = key.bytesOfBase64() else { continue }
                look(at: bytes, key["prekey"] != nil || key["kex"] != nil, of: part, id, &sealed)
            }
        }
    }

    private func look(
        at bytes: [UInt8], _ isExchange: Bool, of part: EncryptedElement, _ id: String, _ sealed: inout Sealed
    ) {
        let dialect = part.dialect
        let message = try? isExchange ? KeyExchange(bytes, dialect).message : RatchetMessage(bytes, dialect)
        guard let message else { return note("a key of \(id) is malformed") }
        // Without the length of the chain before: the name of a key is the ratchet key and the number.
        let name = Name(
            dialect: dialect, device: part.sender,
            header: RatchetMessage.Header(key: message.header.key, number: message.header.number, previous: 0))
        let content = Array(message.authenticated) + Array(message.mac)
        if let before = sealed.updateValue(content, forKey: name), before != content {
            note("the key \(message.header.number) of a chain was used twice, the second time in \(id)")
        }
    }

    private func note(_ fault: String) { if !faults.contains(fault) { faults.append(fault) } }
}
