import KalijAddress
import KalijRatchet
import KalijText
import KalijXML

/// An encrypted message: the payload, and the key of the payload for each device (XEP-0384 section 4.6 of 0.3).
struct EncryptedElement {
    let dialect: OMEMOVersion
    /// The sender's device.
    let sender: UInt32
    private let header: Element
    private let body: Element?

    /// A key for a device.
    struct Key: Equatable {
        let device: UInt32
        let isExchange: Bool
        let bytes: [UInt8]
    }

    /// The maximum number of keys with the same device id, which several devices of a room may have.
    private static let maxSameID = 3
    /// In bytes: a key exchange has fewer than 300.
    private static let maxLength = 1000

    /// The encrypted part of a message; nil if there is none, or if it is malformed.
    init?(_ message: Element, _ dialect: OMEMOVersion) {
        guard let element = message.child("encrypted", dialect.namespace), let header = element.child("header"),
            let sender = header.number("sid"), sender > 0
        else { return nil }
        (self.dialect, self.sender, self.header, body) = (dialect, sender, header, element.child("payload"))
    }

    /// Whether there is a payload, which an empty message does not have.
    var hasPayload: Bool { body != nil }

    /// The payload; nil in an empty message.
    /// - Throws: `RatchetError.malformed`
    var payload: [UInt8]? {
        get throws {
            guard let body else { return nil }
            guard let bytes = body.bytesOfBase64() else { throw RatchetError.malformed("the payload") }
            return bytes
        }
    }

    /// The IV of the payload, in 0.3.
    var iv: [UInt8]? { header.child("iv")?.bytesOfBase64(atMost: Self.maxLength) }

    /// The encrypted part of a message that the device `device` of `account` can decrypt; any other part if there is none; nil if no
    /// part is well-formed. A message for devices of both versions has two parts.
    static func meant(for device: UInt32?, of account: JID, in message: Element) -> EncryptedElement? {
        let parts = [OMEMOVersion.omemo2, .axolotl].compactMap { EncryptedElement(message, $0) }
        let part = device.flatMap { device in parts.first { !$0.elements(for: device, of: account.description).isEmpty }
        }
        return part ?? parts.last
    }

    /// Whether a message has an `<encrypted/>` element of OMEMO.
    static func isMeant(by message: Element) -> Bool {
        OMEMOVersion.allCases.contains { message.child("encrypted", $0.namespace) != nil }
    }

    /// The keys for the device `device` of `address`.
    func keys(for device: UInt32, of address: String) -> [Key] {
        elements(for: device, of: address).compactMap { key in
            key.bytesOfBase64(atMost: Self.maxLength).map {
                Key(device: device, isExchange: Self.isExchange(key), bytes: $0)
            }
        }
    }

    private func elements(for device: UInt32, of address: String) -> [Element] {
        let name = "\(device)"
        var list = header.children("key")
        if dialect == .omemo2 {
            list = header.children("keys").filter { $0["jid"]?.exact == address.exact }.flatMap { $0.children("key") }
        }
        return Array(list.lazy.filter { $0["rid"] == name }.prefix(Self.maxSameID))
    }

    private static func isExchange(_ key: Element) -> Bool {
        ["1", "true"].contains(key["prekey"]) || ["1", "true"].contains(key["kex"])
    }

    /// - Parameter keys: by the addresses of the devices.
    static func element(
        _ payload: Payload, from device: UInt32, _ keys: [(address: String, keys: [Key])], _ dialect: OMEMOVersion
    ) -> Element {
        let header = Element("header", attributes: ["sid": "\(device)"])
        for (address, keys) in keys {
            let elements = keys.map { key in
                let mark = key.isExchange ? [dialect == .axolotl ? "prekey" : "kex": "true"] : [:]
                return Element("key", mark.merging(["rid": "\(key.device)"]) { $1 }, base64: key.bytes)
            }
            if dialect == .axolotl {
                for element in elements { header.add(element) }
            } else {
                header.add(Element("keys", attributes: ["jid": address], children: elements))
            }
        }
        if let iv = payload.iv { header.add(Element("iv", base64: iv)) }
        let element = Element("encrypted", xmlns: dialect.namespace, children: [header])
        if let sealed = payload.sealed { element.add(Element("payload", base64: sealed)) }
        return element
    }
}
