/// A token of a server in place of the password (XEP-0484). Its description omits the secret.
public struct FASTToken: Hashable, Sendable, Codable {
    /// The mechanism that the token was issued for.
    public var mechanism: String
    /// The token itself.
    public var secret: String
    /// The expiry of the token in milliseconds since 1970; nil if the server has not specified one.
    public var expiry: Int64?
    /// The number of uses, including the present one (XEP-0484 section 3.4); to be committed before each use.
    public var count: Int

    /// Creates a token.
    public init(mechanism: String, secret: String, expiry: Int64? = nil, count: Int = 0) {
        (self.mechanism, self.secret, self.expiry, self.count) = (mechanism, secret, expiry, count)
    }

    /// The maximum length of a token's secret in bytes.
    static let maxBytes = 4_096

    /// Whether the token may be sent at the time `now`.
    func isValid(at now: Int64) -> Bool {
        !secret.isEmpty && secret.utf8.count <= Self.maxBytes && expiry.map { $0 > now } ?? true
    }
}

extension FASTToken: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { "\(mechanism), used \(count) times" }
    public var debugDescription: String { description }
}

extension FASTToken: CustomReflectable {
    /// Empty: `dump` shows no secrets either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
