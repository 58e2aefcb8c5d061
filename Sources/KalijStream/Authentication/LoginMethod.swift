import KalijText

/// How a login goes: the mechanism, its channel binding, the profile.
struct LoginMethod: Hashable, Sendable {
    /// Channel binding as a client sees it (RFC 5802, 6).
    enum Flag: String, Hashable, Sendable, Codable {
        /// "n": we cannot bind.
        case unsupported = "n"
        /// "y": we could bind, and the server seems not to.
        case unoffered = "y"
        /// "p": bound.
        case bound = "p"
    }

    let mechanism: SASLMechanism
    let binding: ChannelBindings.Kind?
    let flag: Flag
    let isSASL2: Bool
    /// Set if the proof may leave only if the server's hash of its lists is right (XEP-0474): the error otherwise.
    var descent: AuthenticationError?

    /// The name of the mechanism in the profile.
    var name: String { binding == nil ? mechanism.rawValue : mechanism.rawValue + Self.suffix }

    static let suffix = "-PLUS"

    init(mechanism: SASLMechanism, binding: ChannelBindings.Kind?, flag: Flag, isSASL2: Bool) {
        (self.mechanism, self.binding, self.flag, self.isSASL2) = (mechanism, binding, flag, isSASL2)
    }
}
