/// A token of a server in place of the password (XEP-0484). No description shows the secret.
public struct FASTToken: Hashable, Sendable, Codable {
    /// The mechanism that the token was made for.
    public var mechanism: String
    /// The token itself.
    public var secret: String
    /// The end of the token's life in milliseconds since 1970; nil if the server does not say.
    public var expiry: Int64?
    /// How often the token was used, this time included (XEP-0484 section 3.4); to be committed before each use.
    public var count: Int

    /// Makes a token.
    public init(mechanism: String, secret: String, expiry: Int64? = nil, count: Int = 0) {
        (self.mechanism, self.secret, self.expiry, self.count) = (mechanism, secret, expiry, count)
    }

    /// How many bytes the secret of a token may have.
    static let mostBytes = 4_096

    /// Whether the token may be sent at the time `now`.
    func isValid(at now: Int64) -> Bool {
        !secret.isEmpty && secret.utf8.count <= Self.mostBytes && expiry.map { $0 > now } ?? true
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
