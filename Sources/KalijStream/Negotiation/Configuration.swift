import KalijAddress

extension Negotiation {
    /// The starting point of a negotiation.
    public struct Configuration: Sendable {
        /// The account; a resource is ignored.
        public var account: JID
        /// Password or stored keys.
        public var credentials: Credentials
        /// At least 16 random bytes as printable ASCII without commas (Base64, say), new for each negotiation.
        public var nonce: String
        /// What the login must not fall below.
        public var pins: DowngradePins
        /// The language for the server's messages to people (RFC 5646).
        public var language: String
        /// Whether to authenticate. If not, the stream is the owner's once the stream is encrypted: to register an account
        /// (XEP-0077 section 3.1).
        public var authenticates = true
        /// A UUID v4, the same for all logins of the account from one directory (XEP-0388 section 2.3). Nil: without
        /// SASL2.
        public var userAgent: String?
        /// The name of the software, for the server's list of the user's clients.
        public var software = "Kalij"
        /// Tokens of earlier logins, tried in this order, with counts already committed.
        public var tokens: [FASTToken] = []
        /// Whether the login is to end the life of the token used (XEP-0484 section 3.6).
        public var invalidatesToken = false
        /// Whether a token is asked for where none is held for a week more.
        public var requestsToken = true
        /// The time in milliseconds since 1970: the end of a token's life is compared with.
        public var now: Int64 = 0

        /// Makes a configuration.
        public init(
            account: JID, credentials: Credentials, nonce: String, pins: DowngradePins = DowngradePins(),
            language: String = "en"
        ) {
            self.account = account
            self.credentials = credentials
            self.nonce = nonce
            self.pins = pins
            self.language = language
        }
    }
}
