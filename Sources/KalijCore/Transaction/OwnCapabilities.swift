import KalijStream
import KalijXML

/// The features of this client, for answers to service discovery (XEP-0030), and as hashes in presence (XEP-0115, XEP-0390),
/// which save contacts the query.
package struct OwnCapabilities: Sendable {
    package let info: DiscoveryInfo
    /// The hashes in presence.
    package let hashes: [CapabilityHash]

    /// The name of the software (XEP-0115 section 4).
    private static let software = "urn:x-kalij"

    /// The capabilities of a client with these features.
    package init(_ features: [any Feature.Type]) {
        info = DiscoveryInfo(
            identities: [.init(category: "client", type: "pc", name: "Kalij")],
            features: Set(features.flatMap { $0.announced }).sorted())
        // XEP-0115 section 5.1 makes SHA-1 mandatory, XEP-0300 SHA-256.
        hashes = [
            CapabilityHash(of: info, format: .software(node: Self.software), algorithm: "sha-1"),
            CapabilityHash(of: info, format: .structured, algorithm: "sha-256"),
        ].compactMap { $0 }
    }

    /// The elements for a presence.
    package var elements: [Element] { hashes.map(\.element) }

    /// The answer to a question for the information or the items of this client; nil for an unknown node.
    package func answer(_ query: Element) -> Element? {
        guard query.namespace == DiscoveryInfo.namespace else {
            guard query["node"] == nil else { return nil }
            return Element("query", xmlns: query.namespace)
        }
        let node = query["node"]
        guard node == nil || hashes.contains(where: { $0.node == node }) else { return nil }
        return info.element(node: node)
    }
}
