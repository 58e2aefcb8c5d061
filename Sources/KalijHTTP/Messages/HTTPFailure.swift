/// Why a request has no response.
public struct HTTPFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of a failure. Extensible: switch with a default.
    public struct Code: Hashable, Sendable {
        private let name: String
        private init(_ name: String) { self.name = name }

        /// The peer reports that the request was not processed: its stream is above the last-stream-id of a GOAWAY, or was
        /// refused (RFC 9113, 8.7). Safe to send again, at once, on another connection.
        public static let unprocessed = Code("unprocessed")
        /// The peer has reset the stream; the peer may have acted on the request.
        public static let reset = Code("reset")
        /// No complete response in time; the peer may have acted on the request.
        public static let timedOut = Code("timedOut")
        /// The connection has ended; the peer may have acted on the request.
        public static let connectionLost = Code("connectionLost")
        /// No connection could be made, or none is being tried at the moment; the request has not left.
        public static let unreachable = Code("unreachable")
        /// Too many requests wait; the request has not left.
        public static let queueFull = Code("queueFull")
        /// The response is larger than allowed.
        public static let tooLarge = Code("tooLarge")
        /// The request itself is invalid, and has not left.
        public static let invalid = Code("invalid")
    }

    public let code: Code
    /// In words, for a person; nothing of the request.
    public let description: String

    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    public static func == (one: Self, other: Self) -> Bool { one.code == other.code }

    /// Whether the peer has certainly not acted on the request.
    public var isUnsent: Bool { [.unprocessed, .unreachable, .queueFull, .invalid].contains(code) }
}

/// The outcome of a request.
public typealias HTTPOutcome = Result<HTTPResponse, HTTPFailure>
