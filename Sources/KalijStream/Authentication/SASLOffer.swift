import KalijXML

/// A part of a session that a server can set up together with the login (XEP-0386, XEP-0198 section 9).
public enum InlineFeature: String, Hashable, Sendable, Codable, CaseIterable {
    /// A former session is resumed.
    case resume
    /// A resource is bound.
    case bind
    /// Stream management is enabled with the binding.
    case enable
    /// Carbons are enabled with the binding (XEP-0280).
    case carbons
    /// The client state is set with the binding (XEP-0352).
    case clientState
}

/// The authentication features that a server offers.
struct SASLOffer: Hashable, Sendable {
    /// The mechanisms of RFC 6120, as written by the server.
    let mechanisms: [String]
    /// The mechanisms of XEP-0388.
    let mechanisms2: [String]
    /// The kinds of channel binding (XEP-0440); nil without such a list.
    let bindings: [String]?
    let inline: Set<InlineFeature>
    /// The mechanisms for tokens (XEP-0484).
    let fast: [String]

    /// The maximum number of names that are read from a list. A longer list is truncated, and its hash then does not match.
    private static let maxNames = 100
    private static let maxBytes = 200

    init(_ features: Element) {
        mechanisms = Self.names(features.child("mechanisms", Namespace.sasl)?.children("mechanism"))
        bindings = features.child("sasl-channel-binding", Namespace.channelBinding).map { list in
            list.children("channel-binding").prefix(Self.maxNames).map { Self.cut($0["type"] ?? "") }
        }
        let authentication = features.child("authentication", Namespace.sasl2)
        mechanisms2 = Self.names(authentication?.children("mechanism"))
        let inline = authentication?.child("inline")
        fast = Self.names(inline?.child("fast", Namespace.fast)?.children("mechanism"))
        var found: Set<InlineFeature> = []
        if inline?.child("sm", Namespace.streamManagement) != nil { found.insert(.resume) }
        if let bind = inline?.child("bind", Namespace.bind2) {
            found.insert(.bind)
            // XEP-0386 has the features in <inline/>, an example of XEP-0198 has them without.
            for feature in ((bind.child("inline") ?? bind).children("feature")).prefix(Self.maxNames) {
                switch feature["var"] {
                case Namespace.streamManagement: found.insert(.enable)
                case Namespace.carbons: found.insert(.carbons)
                case Namespace.clientState: found.insert(.clientState)
                default: break
                }
            }
        }
        self.inline = found
    }

    private static func names(_ elements: [Element]?) -> [String] {
        (elements ?? []).prefix(maxNames).map { cut($0.text) }
    }

    private static func cut(_ text: String) -> String {
        text.utf8.count <= maxBytes ? text : String(text.unicodeScalars.prefix(maxBytes / 4))
    }

    /// The mechanisms of the profile.
    func mechanisms(isSASL2: Bool) -> [String] { isSASL2 ? mechanisms2 : mechanisms }

    /// The lists in the form that XEP-0474 hashes (section 5.1).
    func protected(isSASL2: Bool) -> [UInt8] {
        var bytes = Self.joined(mechanisms(isSASL2: isSASL2))
        if let bindings { bytes += [0x1F] + Self.joined(bindings) }
        return bytes
    }

    /// A digest of the whole offer, for comparison. The order within a list is irrelevant.
    var digest: String {
        let lists = [mechanisms, mechanisms2, bindings.map { $0 + ["+"] } ?? [], inline.map(\.rawValue), fast]
        var text: [UInt8] = []
        for list in lists { text += Self.joined(list) + [0x1D] }
        // characters: bytes of a hash.
        return ((try? HashFunction.sha256.hash(text)).map { Base64.encode($0.prefix(12)) }) ?? ""
    }

    /// Sorted by bytes ("i;octet"), with %x1E between.
    private static func joined(_ names: [String]) -> [UInt8] {
        var bytes: [UInt8] = []
        for name in names.map({ Array($0.utf8) }).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            if !bytes.isEmpty { bytes.append(0x1E) }
            bytes += name
        }
        return bytes
    }
}
