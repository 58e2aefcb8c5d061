import KalijRatchet
import KalijXML

import FoundationEssentials

extension OMEMOVersion {
    /// The namespace of the messages, which also names the method (XEP-0380).
    var namespace: String { self == .axolotl ? "eu.siacs.conversations.axolotl" : "urn:xmpp:omemo:2" }

    /// The version of the standard, for people.
    var version: String { self == .axolotl ? "0.3" : "2" }

    /// The method in words, for clients that do not know the method (XEP-0380).
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

    /// The format of the namespace `namespace`.
    init?(namespace: String) {
        guard let dialect = Self.allCases.first(where: { $0.namespace == namespace }) else { return nil }
        self = dialect
    }
}

extension Element {
    /// The bytes in base64 that the element's text says; nil if the text is something else, or says more bytes than `most`. White
    /// space does not count.
    func bytesOfBase64(atMost most: Int = .max) -> [UInt8]? {
        let text = text
        // White space may double the text, no more.
        guard text.utf8.count / 3 <= most, let bytes = Data(base64Encoded: text) ?? Self.bytes(of: text),
            bytes.count <= most
        else { return nil }
        return [UInt8](bytes)
    }

    /// The bytes in base64 with white space.
    private static func bytes(of text: String) -> Data? {
        Data(base64Encoded: Data(text.utf8.filter { ![0x09, 0x0a, 0x0d, 0x20].contains($0) }))
    }

    /// An element with bytes in base64.
    init(_ name: String, _ attributes: [String: String] = [:], base64 bytes: [UInt8]) {
        self.init(name, attributes: attributes, text: Data(bytes).base64EncodedString())
    }

    /// A device, or an id of a prekey, in an attribute.
    func number(_ attribute: String) -> UInt32? {
        self[attribute].flatMap { UInt32($0) }.flatMap { $0 <= EngineLimits.largestNumber ? $0 : nil }
    }
}
