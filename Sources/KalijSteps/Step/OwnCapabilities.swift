import KalijStream
import KalijXML

/// What this client says of itself: in answers to service discovery (XEP-0030), and hashed in its presence (XEP-0115,
/// XEP-0390), so that contacts need not ask.
package struct OwnCapabilities: Sendable {
    package let info: DiscoveryInfo
    /// Its hashes, as presence carries them.
    package let hashes: [CapabilityHash]

    /// Names the software (XEP-0115 section 4).
    private static let software = "urn:x-kalij"

    /// Those of a client that has these features.
    package init(_ features: [any Feature.Type]) {
        info = DiscoveryInfo(
            identities: [.init(category: "client", type: "pc", name: "Kalij")],
            features: Set(features.flatMap { $0.announced }).sorted())
        // SHA-1 is what XEP-0115 section 5.1 makes mandatory, SHA-256 what XEP-0300 does.
        hashes = [
            CapabilityHash(of: info, format: .software(node: Self.software), algorithm: "sha-1"),
            CapabilityHash(of: info, format: .structured, algorithm: "sha-256"),
        ].compactMap { $0 }
    }

    /// What goes into a presence.
    package var elements: [Element] { hashes.map(\.element) }

    /// The answer to a question for the information or the items of this client; nil if it is about a node that there is
    /// not.
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
