/// The data that binds a login to its TLS connection (RFC 5929, RFC 9266).
public struct ChannelBindings: Hashable, Sendable {
    /// The supported kinds of channel binding.
    public enum Kind: String, Codable, Sendable, CaseIterable, Comparable {
        /// RFC 9266: keying material that is unique to the connection.
        case tlsExporter = "tls-exporter"
        /// RFC 5929, 4: the hash of the server's certificate, which other connections share.
        case tlsServerEndPoint = "tls-server-end-point"

        private var strength: Int { self == .tlsExporter ? 2 : 1 }

        /// The server's end point is the weaker kind.
        public static func < (left: Kind, right: Kind) -> Bool { left.strength < right.strength }
    }

    private let data: [Kind: [UInt8]]

    /// Creates the bindings of a connection; empty if no binding is possible.
    public init(_ data: [Kind: [UInt8]]) { self.data = data.filter { !$0.value.isEmpty } }

    /// The data of a kind; nil if this connection has none.
    public subscript(kind: Kind) -> [UInt8]? { data[kind] }

    /// Whether no binding is possible.
    var isEmpty: Bool { data.isEmpty }
}

extension ChannelBindings: CustomStringConvertible, CustomDebugStringConvertible {
    /// The kinds only: the data of a connection is secret.
    public var description: String { data.keys.map(\.rawValue).sorted().joined(separator: ", ") }
    public var debugDescription: String { description }
}

extension ChannelBindings: CustomReflectable {
    /// Empty: `dump` does not show the data either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
