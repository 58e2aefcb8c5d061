import Glibc

/// Why an established connection has ended.
public struct TransportError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of the end.
    public struct Code: Hashable, Sendable {
        private let name: String
        private init(_ name: String) { self.name = name }

        /// The peer, or an intermediary, has reset the connection.
        public static let reset = Code("reset")
        /// Sent bytes have not been acknowledged in time.
        public static let timedOut = Code("timedOut")
        /// The TCP connection ended without TLS having been ended: something may have been cut off.
        public static let truncated = Code("truncated")
        /// The received bytes are not proper TLS.
        public static let tls = Code("tls")
        /// Anything else reported by the system.
        public static let system = Code("system")
    }

    public let code: Code
    /// In words, for a person.
    public let description: String

    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    init(system error: Int32) {
        let words = SystemError("", code: error).reason
        switch error {
        case ECONNRESET, EPIPE: self.init(.reset, words)
        case ETIMEDOUT: self.init(.timedOut, words)
        default: self.init(.system, words)
        }
    }

    public static func == (one: Self, other: Self) -> Bool { one.code == other.code }

    static let truncated = TransportError(.truncated, "the connection ended without a TLS closure alert")
}
