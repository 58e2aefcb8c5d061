import KalijXML

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A hash of what an entity says of itself, which it sends with its presence so that nobody has to ask twice.
public struct CapabilityHash: Hashable, Sendable {
    /// Which standard says how the hash is made.
    public enum Format: Hashable, Sendable {
        /// Entity Capabilities (XEP-0115); `node` names the software.
        case software(node: String)
        /// Entity Capabilities 2.0 (XEP-0390).
        case structured
    }

    public let format: Format
    /// The hash function by its name in XEP-0300, such as `sha-256`.
    public let algorithm: String
    /// The hash in base64.
    public let value: String

    init(format: Format, algorithm: String, value: String) {
        (self.format, self.algorithm, self.value) = (format, algorithm, value)
    }

    /// The hash of what an entity says; nil if the standard gives it none (see ``DiscoveryInfo``'s rules in XEP-0115
    /// section 5.4 and XEP-0390 section 4.1), or if the hash function is none that we know.
    public init?(of info: DiscoveryInfo, format: Format, algorithm: String) {
        guard let function = Digest(named: algorithm) else { return nil }
        let input: [UInt8]? =
            switch format {
            case .software: VerificationString.bytes(of: info)
            case .structured: StructuredHashInput.bytes(of: info)
            }
        guard let input, let hash = try? function.hash(input) else { return nil }
        self.init(format: format, algorithm: algorithm, value: Data(hash).base64EncodedString())
    }

    /// The hashes of a presence that can be verified here, the best first: none if they are missing, in the oldest
    /// format, which has no hash, or made by functions that we do not know.
    public static func all(of presence: Element) -> [CapabilityHash] { announced(in: presence).filter(\.isVerifiable) }

    /// All hashes of a presence, the best format first, whether they can be verified here or not.
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

    /// Whether its hash function is known here.
    public var isVerifiable: Bool { Digest(named: algorithm) != nil }

    /// The node to ask the entity for (XEP-0115 section 6.2, XEP-0390 section 4.3).
    public var node: String {
        switch format {
        case .software(let node): node + "#" + value
        case .structured: "urn:xmpp:caps#" + algorithm + "." + value
        }
    }

    /// The `<c/>` that a presence carries; XEP-0390 allows several hashes in one, this holds just this.
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

    /// Whether it is the hash of `info`, so that it holds for everybody who sends it.
    public func verifies(_ info: DiscoveryInfo) -> Bool {
        CapabilityHash(of: info, format: format, algorithm: algorithm) == self
    }

    /// What the information is stored under: the same for all software, because the hash tells enough.
    public var key: String {
        switch format {
        case .software: "caps \(algorithm) \(value)"
        case .structured: "caps2 \(algorithm) \(value)"
        }
    }

    /// Whether `key` is that of a hash of `info`; false for a text that is no key.
    public static func verifies(key: String, _ info: DiscoveryInfo) -> Bool {
        let parts = key.split(separator: " ", maxSplits: 2).map(String.init)
        guard parts.count == 3 else { return false }
        let format: Format
        switch parts[0] {
        case "caps": format = .software(node: "")
        case "caps2": format = .structured
        default: return false
        }
        return CapabilityHash(of: info, format: format, algorithm: parts[1])?.key == key
    }
}

extension Digest {
    /// The function by its name in XEP-0300; nil if it is unknown here, or not to be used.
    init?(named name: String) {
        switch name {
        // Broken for signatures, but what every client of XEP-0115 sends.
        case "sha-1": self = .sha1
        case "sha-256": self = .sha256
        case "sha-512": self = .sha512
        case "sha3-256": self = .sha3of256
        case "sha3-512": self = .sha3of512
        default: return nil
        }
    }
}
