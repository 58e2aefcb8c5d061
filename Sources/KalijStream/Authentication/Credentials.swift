#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What an account proves its identity with. Descriptions show nothing of it.
public enum Credentials: Sendable, Hashable {
    /// The password, as the user typed it.
    case password(String)
    /// Keys made from the password at an earlier login; they open this one account on this one server.
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
    /// Empty: `dump` shows nothing of it either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What a client stores instead of the password (RFC 5802, 3: ClientKey and ServerKey).
///
/// They fit as long as the server keeps salt and iteration count; when it changes them the password is needed again.
public struct SCRAMKeys: Sendable, Hashable {
    /// The mechanism whose hash function made the keys.
    public let mechanism: SASLMechanism
    /// The salt that the server gave.
    public let salt: [UInt8]
    /// The iteration count that the server gave.
    public let iterations: Int
    /// Proves to the server that we know the password.
    public let clientKey: [UInt8]
    /// Proves to us that the server does.
    public let serverKey: [UInt8]

    /// Keys from parts that were stored one by one.
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
    /// Empty: `dump` shows nothing of it either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension SCRAMKeys: Codable {
    private enum Field: String, CodingKey {
        case mechanism, salt, iterations, clientKey, serverKey
    }

    /// Reads the form that `encode(to:)` writes.
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

    /// Writes bytes as Base64.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        try fields.encode(mechanism, forKey: .mechanism)
        try fields.encode(Base64.encode(salt), forKey: .salt)
        try fields.encode(iterations, forKey: .iterations)
        try fields.encode(Base64.encode(clientKey), forKey: .clientKey)
        try fields.encode(Base64.encode(serverKey), forKey: .serverKey)
    }
}

/// Base64 as SASL and SCRAM write it: padded, without line breaks (RFC 4648, 4).
enum Base64 {
    static func encode(_ bytes: some Sequence<UInt8>) -> String { Data(bytes).base64EncodedString() }
    static func decode(_ text: some StringProtocol) -> [UInt8]? { Data(base64Encoded: String(text)).map(Array.init) }
}
