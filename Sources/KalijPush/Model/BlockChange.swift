/// Why something is blocked.
public enum BlockReason: UInt8, Sendable, CaseIterable {
    /// Not blocked any more.
    case none = 0
    /// The provider reports that the device no longer exists.
    case dead = 1
    /// The provider does not accept the token.
    case bad = 2
    /// A domain with too many dead tokens or malformed publishes.
    case mistakes = 3
}

/// A change of a ``TokenBlocklist``: a block or the end of a block.
public struct BlockChange: Sendable, Equatable {
    public var key: HashedKey
    /// Grows with each change of the same key: 48 bits of milliseconds since 1970, and a count of 16 bits.
    public var version: UInt64
    public var expires: Milliseconds
    public var reason: BlockReason
    /// The node that has proven the change; empty for this node.
    public var origin: String

    public init(key: HashedKey, version: UInt64, expires: Milliseconds, reason: BlockReason, origin: String = "") {
        self.key = key
        self.version = version
        self.expires = expires
        self.reason = reason
        self.origin = origin
    }

    /// The first version of a time.
    public static func version(at time: Milliseconds) -> UInt64 {
        // fits: 48 bits
        UInt64(max(0, min(time, 0xffff_ffff_ffff))) << 16
    }

    static func time(of version: UInt64) -> Milliseconds { Milliseconds(version >> 16) }

    var time: Milliseconds { Self.time(of: version) }
}

/// A claim of another node that a key is blocked. It is no proof: this node's provider has not judged the key.
struct PeerClaim: Sendable, Equatable {
    var key: HashedKey
    /// Number in ``NodeRegistry``.
    var origin: UInt16
    var version: UInt64
    var reason: BlockReason
}

/// The state of a key in a table.
enum Standing: Sendable, Equatable {
    case free
    /// Proven here.
    case proven(BlockReason)
    case hearsay(PeerClaim)
}
