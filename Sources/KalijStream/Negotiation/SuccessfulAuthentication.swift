/// The outcome of a login in which client and server have authenticated each other by the password, or by a token.
public struct SuccessfulAuthentication: Hashable, Sendable {
    /// The mechanism, without a suffix for channel binding; nil for a token.
    public var mechanism: SASLMechanism?
    /// The keys to be stored in place of the password; nil with PLAIN, and for a token.
    public var keys: SCRAMKeys?
    /// The pins to be stored: the minimum security of later logins.
    public var pins: DowngradePins
    /// The token that was used.
    public var usedToken: FASTToken?

    /// Creates the outcome of a login.
    public init(mechanism: SASLMechanism?, keys: SCRAMKeys? = nil, pins: DowngradePins, usedToken: FASTToken? = nil) {
        (self.mechanism, self.keys, self.pins, self.usedToken) = (mechanism, keys, pins, usedToken)
    }
}
