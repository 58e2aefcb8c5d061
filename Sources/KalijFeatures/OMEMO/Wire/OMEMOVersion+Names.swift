import KalijRatchet
import KalijXML

import FoundationEssentials

extension OMEMOVersion {
    /// The namespace of the messages, which also names the method (XEP-0380).
    var namespace: String { self == .axolotl ? "eu.siacs.conversations.axolotl" : "urn:xmpp:omemo:2" }

    /// The version of the standard, for people.
    var version: String { self == .axolotl ? "0.3" : "2" }

    /// The name of the method, for clients without support for it (XEP-0380).
    static let methodName = "OMEMO"

    /// The node with the list of an address's devices.
    var listNode: String { namespace + (self == .axolotl ? ".devicelist" : ":devices") }

    /// The id of the list's only item.
    static let listItem = "current"

    /// The node with the bundle of a device.
    func bundleNode(_ device: UInt32) -> String {
        self == .axolotl ? "\(namespace).bundles:\(device)" : namespace + ":bundles"
    }

    /// The id of the item with the bundle of a device.
    func bundleItem(_ device: UInt32) -> String { self == .axolotl ? Self.listItem : "\(device)" }

    /// The version with the namespace `namespace`.
    init?(namespace: String) {
        guard let dialect = Self.allCases.first(where: { $0.namespace == namespace }) else { return nil }
        self = dialect
    }
}

extension Element {
    /// The decoded base64 text of the element, ignoring whitespace; nil if it is invalid, or has more bytes than `most`.
    func bytesOfBase64(atMost most: Int = .max) -> [UInt8]? {
        let text = text
        // Whitespace may at most double the length of the text.
        guard text.utf8.count / 3 <= most, let bytes = Data(base64Encoded: text) ?? Self.bytes(of: text),
            bytes.count <= most
        else { return nil }
        return [UInt8](bytes)
    }

    /// Decodes base64 with whitespace.
    private static func bytes(of text: String) -> Data? {
        Data(base64Encoded: Data(text.utf8.filter { ![0x09, 0x0a, 0x0d, 0x20].contains($0) }))
    }

    /// An element whose text is `bytes` in base64.
    init(_ name: String, _ attributes: [String: String] = [:], base64 bytes: [UInt8]) {
        self.init(name, attributes: attributes, text: Data(bytes).base64EncodedString())
    }

    /// A device id or the id of a prekey, in an attribute.
    func number(_ attribute: String) -> UInt32? {
        self[attribute].flatMap { UInt32($0) }.flatMap { $0 <= RatchetLimits.largestNumber ? $0 : nil }
    }
}
