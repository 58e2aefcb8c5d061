import KalijText

/// The parameters of a login: the mechanism, its channel binding, the profile.
struct LoginMethod: Hashable, Sendable {
    /// The client's support for channel binding (RFC 5802, 6).
    enum Flag: String, Hashable, Sendable, Codable {
        /// "n": the client does not support binding.
        case unsupported = "n"
        /// "y": the client supports binding, and the server apparently does not.
        case unoffered = "y"
        /// "p": the exchange is bound.
        case bound = "p"
    }

    let mechanism: SASLMechanism
    let binding: ChannelBindings.Kind?
    let flag: Flag
    let isSASL2: Bool
    /// Set if the proof may be sent only if the server's hash of its lists is correct (XEP-0474): the error otherwise.
    var descent: AuthenticationError?

    /// The name of the mechanism in the profile.
    var name: String { binding == nil ? mechanism.rawValue : mechanism.rawValue + Self.suffix }

    static let suffix = "-PLUS"

    init(mechanism: SASLMechanism, binding: ChannelBindings.Kind?, flag: Flag, isSASL2: Bool) {
        (self.mechanism, self.binding, self.flag, self.isSASL2) = (mechanism, binding, flag, isSASL2)
    }
}
