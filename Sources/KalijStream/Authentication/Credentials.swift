#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The proof of an account's identity. Descriptions contain no secrets.
public enum Credentials: Sendable, Hashable {
    /// The password, as typed by the user.
    case password(String)
    /// Keys derived from the password at an earlier login; they are valid only for this account on this server.
    case keys(SCRAMKeys)
}

extension Credentials: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String {
        switch self {
        case .password: "password"
        case .keys(let keys): "keys (\(keys))"
        }
    }

    public var debugDescription: String { description }
}

extension Credentials: CustomReflectable {
    /// Empty: `dump` shows no secrets either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The keys that a client stores in place of the password (RFC 5802, 3: ClientKey and ServerKey).
///
/// The keys are valid as long as the server's salt and iteration count are unchanged; after a change the password is required again.
public struct SCRAMKeys: Sendable, Hashable {
    /// The mechanism, which determines the hash function.
    public let mechanism: SASLMechanism
    /// The server's salt.
    public let salt: [UInt8]
    /// The server's iteration count.
    public let iterations: Int
    /// Proves to the server that the client has the password.
    public let clientKey: [UInt8]
    /// Proves to the client that the server has the password.
    public let serverKey: [UInt8]

    /// Creates the keys from separately stored parts.
    public init(mechanism: SASLMechanism, salt: [UInt8], iterations: Int, clientKey: [UInt8], serverKey: [UInt8]) {
        self.mechanism = mechanism
        self.salt = salt
        self.iterations = iterations
        self.clientKey = clientKey
        self.serverKey = serverKey
    }
}

extension SCRAMKeys: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { "\(mechanism), \(iterations) iterations" }
    public var debugDescription: String { description }
}

extension SCRAMKeys: CustomReflectable {
    /// Empty: `dump` shows no secrets either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension SCRAMKeys: Codable {
    private enum Field: String, CodingKey {
        case mechanism, salt, iterations, clientKey, serverKey
    }

    /// Decodes the form that `encode(to:)` writes.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        func bytes(_ field: Field) throws -> [UInt8] {
            guard let bytes = Base64.decode(try fields.decode(String.self, forKey: field)) else {
                throw DecodingError.dataCorruptedError(forKey: field, in: fields, debugDescription: "no Base64")
            }
            return bytes
        }
        self.init(
            mechanism: try fields.decode(SASLMechanism.self, forKey: .mechanism), salt: try bytes(.salt),
            iterations: try fields.decode(Int.self, forKey: .iterations), clientKey: try bytes(.clientKey),
            serverKey: try bytes(.serverKey))
    }

    /// Encodes bytes as Base64.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        try fields.encode(mechanism, forKey: .mechanism)
        try fields.encode(Base64.encode(salt), forKey: .salt)
        try fields.encode(iterations, forKey: .iterations)
        try fields.encode(Base64.encode(clientKey), forKey: .clientKey)
        try fields.encode(Base64.encode(serverKey), forKey: .serverKey)
    }
}

/// Base64 as in SASL and SCRAM: padded, without line breaks (RFC 4648, 4).
enum Base64 {
    static func encode(_ bytes: some Sequence<UInt8>) -> String { Data(bytes).base64EncodedString() }
    static func decode(_ text: some StringProtocol) -> [UInt8]? { Data(base64Encoded: String(text)).map(Array.init) }
}
