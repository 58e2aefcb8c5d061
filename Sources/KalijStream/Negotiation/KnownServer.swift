/// A pipelined step of the negotiation, sent before the server has requested it.
public enum EarlyStep: String, Hashable, Sendable, Codable, CaseIterable {
    /// Header and `<starttls/>` together.
    case startTLS
    /// Header and `<auth/>` or `<authenticate/>` together.
    case login
    /// `<response/>`, the header of the next stream and `<resume/>` together. Prosody processes all of it; ejabberd discards everything
    /// after `<response/>`.
    case resume
    /// After `<success/>`: the header of the next stream and `<resume/>` together.
    case session
}

/// The features that a server at one address has offered, and the steps that have succeeded: to be stored for account, host, port and
/// kind of TLS.
public struct KnownServer: Hashable, Sendable, Codable {
    /// The parameters of a pipelined login.
    public struct Login: Hashable, Sendable, Codable {
        /// The mechanism, without a suffix for channel binding.
        public var mechanism: SASLMechanism
        /// The kind of channel binding; nil for none.
        public var binding: ChannelBindings.Kind?
        /// Whether the client declares that it supports binding and has received no offer of it (RFC 5802, 6: "y").
        public var deniesBinding: Bool
        /// Whether XEP-0388 is used.
        public var isSASL2: Bool
        /// The mechanisms offered for tokens (XEP-0484).
        public var fast: [String]
        /// The features that can be set up together with the login.
        public var inline: Set<InlineFeature>

        /// Creates the parameters.
        public init(
            mechanism: SASLMechanism, binding: ChannelBindings.Kind? = nil, deniesBinding: Bool = false,
            isSASL2: Bool = false, fast: [String] = [], inline: Set<InlineFeature> = []
        ) {
            (self.mechanism, self.binding, self.deniesBinding) = (mechanism, binding, deniesBinding)
            (self.isSASL2, self.fast, self.inline) = (isSASL2, fast, inline)
        }

        init(_ choice: LoginMethod, _ offer: SASLOffer) {
            self.init(
                mechanism: choice.mechanism, binding: choice.binding, deniesBinding: choice.flag == .unoffered,
                isSASL2: choice.isSASL2, fast: offer.fast.sorted(), inline: offer.inline)
        }

        var choice: LoginMethod {
            let flag: LoginMethod.Flag = binding != nil ? .bound : deniesBinding ? .unoffered : .unsupported
            return LoginMethod(mechanism: mechanism, binding: binding, flag: flag, isSASL2: isSASL2)
        }
    }

    /// The parameters of the next login; nil before the first.
    public var login: Login?
    /// Whether STARTTLS has succeeded here.
    public var offersTLS = false
    /// The pipelined steps that failed here.
    public var off: Set<EarlyStep> = []
    /// The pipelined steps that have succeeded here. ``EarlyStep/resume`` is tried a limited number of times before.
    public var worked: Set<EarlyStep> = []
    /// The number of trials of ``EarlyStep/resume`` before its first success. Recorded ahead of each trial: a process that lives shorter
    /// than a trial's timeout would otherwise retry for ever, and never resume (found by kills at ejabberd).
    public var trials = 0
    static let maxTrials = 2
    /// A digest of the offer inside TLS before the login. ``off`` is cleared when it changes.
    public var features = ""

    /// Creates the state of a server before the first login, which is negotiated in single steps.
    public init() {}

    /// A copy in which `letter` is disabled after a failure.
    public func turningOff(_ letter: EarlyStep) -> KnownServer {
        var copy = self
        copy.off.insert(letter)
        copy.worked.remove(letter)
        return copy
    }

    /// Records a successful login by this offer.
    mutating func record(_ choice: LoginMethod, _ offer: SASLOffer) {
        let digest = offer.digest
        if digest != features { (off, worked, trials, features) = ([], [], 0, digest) }
        login = Login(choice, offer)
    }
}
