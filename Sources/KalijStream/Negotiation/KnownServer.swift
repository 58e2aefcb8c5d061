/// A step of the negotiation that may leave before the server asked for it.
public enum EarlyStep: String, Hashable, Sendable, Codable, CaseIterable {
    /// Header and `<starttls/>` together.
    case startTLS
    /// Header and `<auth/>` or `<authenticate/>` together.
    case login
    /// `<response/>`, the header of the next stream and `<resume/>` together. Prosody takes all of it; ejabberd throws away what
    /// comes with `<response/>`.
    case resume
    /// After `<success/>`: the header of the next stream and `<resume/>` together.
    case session
}

/// What a server at one address has offered, and what has worked: to be stored for account, host, port and kind of TLS.
public struct KnownServer: Hashable, Sendable, Codable {
    /// How the next login can begin unasked.
    public struct Login: Hashable, Sendable, Codable {
        /// The mechanism, without a suffix for channel binding.
        public var mechanism: SASLMechanism
        /// The kind of channel binding; nil without.
        public var binding: ChannelBindings.Kind?
        /// Whether the server is told that we could bind and saw no offer (RFC 5802, 6: "y").
        public var deniesBinding: Bool
        /// Whether XEP-0388 is used.
        public var isSASL2: Bool
        /// The mechanisms offered for tokens (XEP-0484).
        public var fast: [String]
        /// What can be set up together with the login.
        public var inline: Set<InlineFeature>

        /// Makes a way to log in.
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

    /// How the next login can begin; nil if nothing is known.
    public var login: Login?
    /// Whether STARTTLS has worked here.
    public var offersTLS = false
    /// The letters that failed here.
    public var off: Set<EarlyStep> = []
    /// The letters that have worked here. ``EarlyStep/resume`` is tried before, a few times.
    public var worked: Set<EarlyStep> = []
    /// How often ``EarlyStep/resume`` was tried before it has worked. Learned before each trial: a process that lives shorter than a
    /// trial's silence would otherwise try for ever, and never resume (found by kills at ejabberd).
    public var trials = 0
    static let mostTrials = 2
    /// What was offered inside TLS before the login, in a short form. ``off`` is emptied when this changes.
    public var features = ""

    /// Nothing is known: the login goes by steps.
    public init() {}

    /// The same server, at which `letter` failed.
    public func turningOff(_ letter: EarlyStep) -> KnownServer {
        var copy = self
        copy.off.insert(letter)
        copy.worked.remove(letter)
        return copy
    }

    /// The server has let us in, with this offer.
    mutating func note(_ choice: LoginMethod, _ offer: SASLOffer) {
        let digest = offer.digest
        if digest != features { (off, worked, trials, features) = ([], [], 0, digest) }
        login = Login(choice, offer)
    }
}
