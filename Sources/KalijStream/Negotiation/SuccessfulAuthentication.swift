/// The server and we have proven to each other that we know the password, or the token.
public struct SuccessfulAuthentication: Hashable, Sendable {
    /// The mechanism, without a suffix for channel binding; nil for a token.
    public var mechanism: SASLMechanism?
    /// To be stored in place of the password; nil with PLAIN, and for a token.
    public var keys: SCRAMKeys?
    /// To be stored: what later logins never fall below.
    public var pins: DowngradePins
    /// The token that let us in.
    public var usedToken: FASTToken?

    /// Makes the outcome of a login.
    public init(mechanism: SASLMechanism?, keys: SCRAMKeys? = nil, pins: DowngradePins, usedToken: FASTToken? = nil) {
        (self.mechanism, self.keys, self.pins, self.usedToken) = (mechanism, keys, pins, usedToken)
    }
}
