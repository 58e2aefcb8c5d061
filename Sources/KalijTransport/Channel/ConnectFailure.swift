/// Why a target could not be reached: all attempts, with their results.
public struct ConnectFailure: Error, Sendable, CustomStringConvertible {
    /// The kind of a failure.
    public enum Kind: Sendable, Hashable {
        /// The certificate was not accepted.
        case certificate
        /// The certificate is self-signed, or from an authority without trust.
        case untrusted
        /// TLS could not be agreed on.
        case tls
        /// No address accepts a connection, or the network is unreachable.
        case unreachable
        /// The DNS gave no answer.
        case noAnswer
        /// The DNS reports that the name does not exist.
        case noSuchName
        /// The domain offers no such service (a SRV record with the target ".").
        case noService
        /// A setting is unusable, such as a CA file that cannot be read.
        case configuration
    }

    /// An attempt to reach an address.
    public struct Attempt: Sendable, Equatable, CustomStringConvertible {
        /// The resolved name.
        public let host: String
        /// The address in numbers; nil if the attempt failed before.
        public let address: String?
        /// nil if the attempt failed before.
        public let port: UInt16?
        public let kind: Kind
        /// In words, for a person.
        public let reason: String
        /// The SHA-256 of the certificate that was not accepted; nil if none was shown.
        public let certificate: [UInt8]?

        public init(
            host: String, address: String? = nil, port: UInt16? = nil, kind: Kind, reason: String,
            certificate: [UInt8]? = nil
        ) {
            self.host = host
            self.address = address
            self.port = port
            self.kind = kind
            self.reason = reason
            self.certificate = certificate
        }

        public var description: String {
            guard let address, let port else { return "\(host): \(reason)" }
            return "\(Endpoint.text(address, port)): \(reason)"
        }
    }

    /// In the order of their ends; never empty.
    public let attempts: [Attempt]

    public init(_ attempts: [Attempt]) { self.attempts = attempts }

    /// The SHA-256 of the certificate that was not accepted, as people compare it: pairs of hexadecimal digits between colons. Nil if
    /// another fault kept the connection from being made.
    public var certificateFingerprint: String? {
        attempts.compactMap(\.certificate).last.map { bytes in
            bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: ":")
        }
    }

    /// The kind of the attempt that got furthest.
    public var kind: Kind {
        let furthest: [Kind] = [
            .configuration, .certificate, .untrusted, .tls, .unreachable, .noAnswer, .noService, .noSuchName,
        ]
        return furthest.first { kind in attempts.contains { $0.kind == kind } } ?? .unreachable
    }

    /// "[::1]:5222: connection refused; 127.0.0.1:5222: certificate has expired (2021-01-01)"
    public var description: String { attempts.map(\.description).joined(separator: "; ") }
}
