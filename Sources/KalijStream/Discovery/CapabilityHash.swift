import KalijText
import KalijXML

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A hash of an entity's description. Entities add hashes to their presence, so that a description is queried only once.
public struct CapabilityHash: Hashable, Sendable {
    /// The standard that defines the hash.
    public enum Format: Hashable, Sendable {
        /// Entity Capabilities (XEP-0115); `node` names the software.
        case software(node: String)
        /// Entity Capabilities 2.0 (XEP-0390).
        case structured
    }

    /// The standard that defines the hash.
    public let format: Format
    /// The hash function by its name in XEP-0300, such as `sha-256`.
    public let algorithm: String
    /// The hash in base64.
    public let value: String

    init(format: Format, algorithm: String, value: String) {
        (self.format, self.algorithm, self.value) = (format, algorithm, value)
    }

    /// The hash of a description; nil if the standard does not allow one for it (see XEP-0115 section 5.4 and XEP-0390 section 4.1), or
    /// if the hash function is not supported.
    public init?(of info: DiscoveryInfo, format: Format, algorithm: String) {
        guard let function = HashFunction(named: algorithm) else { return nil }
        let input: [UInt8]? =
            switch format {
            case .software: VerificationString.bytes(of: info)
            case .structured: StructuredHashInput.bytes(of: info)
            }
        guard let input, let hash = try? function.hash(input) else { return nil }
        self.init(format: format, algorithm: algorithm, value: Data(hash).base64EncodedString())
    }

    /// The verifiable hashes of a presence, the best format first. Empty if there are no hashes, only the oldest format (without a
    /// hash), or only unsupported hash functions.
    public static func all(of presence: Element) -> [CapabilityHash] { announced(in: presence).filter(\.isVerifiable) }

    /// All hashes of a presence, the best format first, verifiable or not.
    public static func announced(in presence: Element) -> [CapabilityHash] {
        var hashes: [CapabilityHash] = []
        for hash: Element in presence.find("{urn:xmpp:caps}c/{urn:xmpp:hashes:2}hash") {
            guard let algorithm = hash["algo"] else { continue }
            let value = hash.text.filter { !$0.isWhitespace }
            hashes.append(CapabilityHash(format: .structured, algorithm: algorithm, value: value))
        }
        if let software: Element = presence.findFirst("{http://jabber.org/protocol/caps}c"),
            let node = software["node"], let algorithm = software["hash"], let value = software["ver"]
        {
            hashes.append(CapabilityHash(format: .software(node: node), algorithm: algorithm, value: value))
        }
        return hashes.filter { !$0.value.isEmpty }
    }

    /// Whether the hash function is supported.
    public var isVerifiable: Bool { HashFunction(named: algorithm) != nil }

    /// The node with which to query the entity (XEP-0115 section 6.2, XEP-0390 section 4.3).
    public var node: String {
        switch format {
        case .software(let node): node + "#" + value
        case .structured: "urn:xmpp:caps#" + algorithm + "." + value
        }
    }

    /// The `<c/>` for a presence. XEP-0390 allows several hashes in an element; this one has a single hash.
    public var element: Element {
        switch format {
        case .software(let node):
            Element(
                "c", xmlns: "http://jabber.org/protocol/caps",
                attributes: ["hash": algorithm, "node": node, "ver": value])
        case .structured:
            Element(
                "c", xmlns: "urn:xmpp:caps",
                children: [Element("hash", xmlns: "urn:xmpp:hashes:2", attributes: ["algo": algorithm], text: value)])
        }
    }

    /// Whether `info` has this hash, and therefore describes every sender of the hash.
    public func verifies(_ info: DiscoveryInfo) -> Bool {
        CapabilityHash(of: info, format: format, algorithm: algorithm) == self
    }

    /// The key under which the description is stored; independent of the node, because the hash is sufficient.
    public var key: String {
        switch format {
        case .software: "caps \(algorithm) \(value)"
        case .structured: "caps2 \(algorithm) \(value)"
        }
    }

    /// Whether `key` is the key of a hash of `info`; false for any other text.
    public static func verifies(key: String, _ info: DiscoveryInfo) -> Bool {
        let parts = key.parts(at: " ", most: 3)
        guard parts.count == 3 else { return false }
        let format: Format
        switch parts[0] {
        case "caps": format = .software(node: "")
        case "caps2": format = .structured
        default: return false
        }
        return CapabilityHash(of: info, format: format, algorithm: parts[1])?.key.exact == key.exact
    }
}

extension HashFunction {
    /// The function with this name in XEP-0300; nil if it is not supported, or too weak.
    init?(named name: String) {
        switch name {
        // Broken for signatures, but every client of XEP-0115 sends it.
        case "sha-1": self = .sha1
        case "sha-256": self = .sha256
        case "sha-512": self = .sha512
        case "sha3-256": self = .sha3of256
        case "sha3-512": self = .sha3of512
        default: return nil
        }
    }
}
