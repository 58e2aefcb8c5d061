import KalijAddress

extension Negotiation {
    /// The parameters of a negotiation.
    public struct Configuration: Sendable {
        /// The account; a resource is ignored.
        public var account: JID
        /// The password or stored keys.
        public var credentials: Credentials
        /// At least 16 random bytes as printable ASCII without commas (Base64 for example), new for each negotiation.
        public var nonce: String
        /// The minimum security of the login.
        public var pins: DowngradePins
        /// The preferred language of the server's texts (RFC 5646).
        public var language: String
        /// Whether to authenticate. If not, the owner uses the stream once it is encrypted, to register an account (XEP-0077 section
        /// 3.1).
        public var authenticates = true
        /// A UUID v4, the same for all logins of the account from one directory (XEP-0388 section 2.3). If nil, SASL2 is not used.
        public var userAgent: String?
        /// The name of the software, which a server lists among the user's clients.
        public var software = "Kalij"
        /// The tokens of earlier logins, tried in this order, with counts already committed.
        public var tokens: [FASTToken] = []
        /// Whether the login is to invalidate the token used (XEP-0484 section 3.6).
        public var invalidatesToken = false
        /// Whether a token is requested if none is valid for another week.
        public var requestsToken = true
        /// The present time in milliseconds since 1970, for comparison with the expiry of tokens.
        public var now: Int64 = 0

        /// Creates a configuration.
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
