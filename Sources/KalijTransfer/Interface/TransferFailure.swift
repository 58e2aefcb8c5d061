/// Why a transfer has no complete response.
public struct TransferFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of a failure. Extensible: switch with a default.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String
        private init(_ name: String) { description = name }

        /// All addresses of the host are private, or otherwise not for the public (`AddressRule`); nothing was
        /// connected to.
        public static let refusedAddress = Code("refusedAddress")
        /// The name has no address, or the DNS does not answer.
        public static let name = Code("name")
        /// No address could be connected to.
        public static let connect = Code("connect")
        /// TLS could not be agreed on.
        public static let tls = Code("tls")
        /// The certificate was not accepted.
        public static let certificate = Code("certificate")
        /// The connection has ended before the response was complete.
        public static let cut = Code("cut")
        /// Slower than the limit.
        public static let tooSlow = Code("tooSlow")
        /// No connection in time.
        public static let timeout = Code("timeout")
        /// The response violates HTTP or a rule of this module: its head is too large, a PUT is answered as done before its last
        /// byte, the body is compressed.
        public static let protocolError = Code("protocolError")
        /// A redirect that is not followed: too many, or not to `https`.
        public static let redirect = Code("redirect")
        /// libcurl is not installed, or too old.
        public static let libraryMissing = Code("libraryMissing")
        /// The request itself is invalid; nothing has left.
        public static let invalidRequest = Code("invalidRequest")
        /// The body of a PUT cannot be read, or is shorter than its length.
        public static let source = Code("source")
        /// A setting is unusable, such as a CA file that cannot be read.
        public static let configuration = Code("configuration")
        /// Out of memory or descriptors, and other failures of this machine.
        public static let system = Code("system")
    }

    public let code: Code
    /// In words, for a person; nothing of the URL's path or of the fields.
    public let description: String
    /// The status of the response, if the head has arrived.
    public var status: Int?
    /// Bytes of the PUT's body that were handed over.
    public var sent: Int64 = 0
    /// Bytes of the response's body.
    public var received: Int64 = 0

    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// By code.
    public static func == (one: Self, other: Self) -> Bool { one.code == other.code }

    /// Whether the server cannot have seen the request: no connection was established.
    public var isUnsent: Bool {
        [
            .refusedAddress, .name, .connect, .tls, .certificate, .timeout, .libraryMissing, .invalidRequest,
            .configuration,
        ].contains(code)
    }
}
