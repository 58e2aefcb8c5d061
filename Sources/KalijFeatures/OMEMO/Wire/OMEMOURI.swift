import KalijAddress

import FoundationEssentials
import KalijText

/// An address with keys: `xmpp:JID?omemo-sid-ID=HEX;...` as Conversations, Dino and Monal write it, or XEP-0434's `trust-message`.
public struct OMEMOURI: Sendable, Equatable {
    /// The bare address.
    public let jid: JID
    /// Keys that the presenter of the URI has verified.
    public let verified: [Fingerprint]
    /// Keys that are to be distrusted.
    public let distrusted: [Fingerprint]
    /// The verified keys of the devices that the URI names by their ids.
    public let devices: [UInt32: Fingerprint]

    /// The maximum number of keys in a URI.
    private static let maxKeys = 100

    /// - Parameter text: a URI. The result is nil if it has no keys, or an invalid one.
    public init?(_ text: String) {
        guard text.utf8.count <= 20_000, let uri = URLComponents(string: text), uri.scheme?.lowercased() == "xmpp",
            let query = uri.query, let jid = try? JID(uri.path)
        else { return nil }
        var (verified, distrusted): ([Fingerprint], [Fingerprint]) = ([], [])
        var devices: [UInt32: Fingerprint] = [:]
        for field in query.words(at: ";").flatMap({ $0.words(at: "&") }) {
            let pair = field.parts(at: "=", most: 2)
            guard pair.count == 2 else { continue }
            let name = pair[0].lowercased()
            guard name.begins(with: "omemo-sid-") || name == "trust" || name == "distrust" else { continue }
            guard let key = Fingerprint(pair[1]) else { return nil }
            if name == "distrust" { distrusted.append(key) } else { verified.append(key) }
            if let device = UInt32(name.dropFirst("omemo-sid-".count)) { devices[device] = key }
        }
        guard (1...Self.maxKeys).contains(verified.count + distrusted.count) else { return nil }
        (self.jid, self.verified, self.distrusted, self.devices) = (jid.bare, verified, distrusted, devices)
    }

    /// The URI of an address with its devices.
    public static func text(of jid: JID, _ devices: [(device: UInt32, key: Fingerprint)]) -> String {
        "xmpp:\(jid.bare)?" + devices.map { "omemo-sid-\($0.device)=\($0.key.hex)" }.joined(separator: ";")
    }
}
