import KalijAddress
import KalijText
import KalijXML

/// The negotiation from a connection to a session: RFC 6120 (STARTTLS, SASL, binding) and XEP-0198 (resuming, enabling), or with fewer
/// round trips XEP-0388 (SASL2), XEP-0386 (Bind 2) and XEP-0484 (FAST).
///
/// A value without socket, clock and disk. The owner passes events and performs the returned actions:
///
/// ```swift
/// var negotiation = Negotiation(configuration)
/// for action in try negotiation.handle(.connected(secured: bindings, known: known)) { ... }
/// ```
///
/// At a server with a recorded login, steps are pipelined (``EarlyStep``); the server's responses are then verified as in single steps.
/// Outside TLS nothing about the account is disclosed, and no authentication takes place. After an error every further event is an
/// error, too.
public struct Negotiation: Sendable {
    /// The security of a stream so far.
    enum Phase: Sendable {
        case plain, secured, authenticated
    }

    enum Stage: Sendable {
        case new
        case header(Phase)
        case features(Phase)
        case requestingTLS
        case securing
        case unauthenticated
        /// A plan is pending.
        case planning(Planning)
        case authenticating(LoginAttempt)
        case resuming(SessionPlan.Resume, StreamFeatures)
        case binding(StreamFeatures, SessionPlan.Bind)
        /// A resource was bound together with the login; the features that follow determine whether stream management is available.
        case bound(SessionPlan.Bind)
        case enabling
        /// No session was requested.
        case unwanted
        case established
        case over
    }

    /// The purpose of a plan.
    enum Planning: Sendable {
        /// The login itself.
        case login(LoginAttempt)
        /// The response to the server's challenge.
        case response(LoginAttempt, [UInt8])
        /// The stream after the login.
        case stream
        /// The session, in single steps.
        case session(StreamFeatures)
    }

    let configuration: Configuration
    var stage = Stage.new
    /// An error in the server's header, deferred because a following stream error would be more specific.
    private var headerProblem: NegotiationError?
    /// Whether `<resume/>` was sent and not answered, for other reasons than a pipelined step. Still valid after an error: a connection
    /// that ends in between counts as a failed attempt to resume.
    public internal(set) var isResumePending = false
    /// The pipelined step whose expected response is pending. Still valid after an error: the step is then to be disabled
    /// (``KnownServer/turningOff(_:)``). Nil if the login itself was rejected.
    public internal(set) var suspect: EarlyStep?
    /// The state of the server, as the owner has stored it.
    var known = KnownServer()
    var bindings = ChannelBindings([:])
    /// Whether `<starttls/>` was sent.
    var hasRequestedTLS = false
    /// The login that was sent together with the header.
    var flight: LoginAttempt?
    /// The request to resume that was pipelined with the response to the challenge, or with the header of the next stream.
    var resumeInFlight: SessionPlan.Resume?
    /// Whether no attempt to resume has failed yet.
    var mayResume = true
    /// The tokens that were not tried yet.
    var tokens: [FASTToken]
    /// Whether a token was rejected on this connection.
    var hasTriedToken = false

    /// Creates a negotiation for a new connection.
    public init(_ configuration: Configuration) {
        self.configuration = configuration
        tokens = configuration.tokens
    }

    /// Handles an event.
    ///
    /// - Returns: the next actions, in this order.
    /// - Throws: `NegotiationError`; the connection cannot be used any further.
    public mutating func handle(_ event: Event) throws(NegotiationError) -> [Action] {
        do { return try process(event) } catch {
            stage = .over
            if error.isOfLogin, suspect != .login || !error.mayBeOfHaste { suspect = nil }
            throw error
        }
    }

    private mutating func process(_ event: Event) throws(NegotiationError) -> [Action] {
        switch event {
        case .connected(let secured, let known): return try connect(secured, known)
        case .secured(let bindings):
            guard case .securing = stage else { throw misuse("TLS was not asked for") }
            return [.restartParser(keepingRest: false)] + (try beginSecured(bindings))
        case .opened(let header): return try opened(header)
        case .element(let element): return try received(element)
        case .closed:
            if let headerProblem { throw headerProblem }
            throw .closed(during: stage.description)
        case .planned(let plan): return try planned(plan)
        case .silent: return try rescue()
        }
    }

    // MARK: - Streams

    private mutating func connect(
        _ secured: ChannelBindings?, _ known: KnownServer
    ) throws(NegotiationError) -> [Action] {
        guard case .new = stage else { throw misuse("connected twice") }
        guard configuration.account.isPrepared, configuration.account.local != nil || !configuration.authenticates
        else {
            throw .misuse("the account needs a valid address with a local part")
        }
        guard StreamHeader.isLanguage(configuration.language) else { throw .misuse("the language is no language tag") }
        self.known = known
        if let secured { return try beginSecured(secured) }
        guard known.offersTLS, !known.off.contains(.startTLS) else { return [.send(open(.plain))] }
        hasRequestedTLS = true
        suspect = .startTLS
        return [.send(open(.plain, isDeclared: false) + Self.startTLS)]
    }

    /// The client's header, to be sent.
    mutating func open(_ phase: Phase, isDeclared: Bool = true) -> [UInt8] {
        stage = .header(phase)
        return StreamHeader.bytes(
            account: configuration.account, isSecured: phase != .plain && configuration.authenticates,
            language: configuration.language, isDeclared: isDeclared)
    }

    private mutating func opened(_ header: Element) throws(NegotiationError) -> [Action] {
        guard case .header(let phase) = stage else { throw unexpected(header) }
        if let problem = StreamHeader.problem(in: header, domain: configuration.account.domain) {
            headerProblem = .invalidHeader(problem)
            guard header.isNamed("stream", Namespace.stream) else { throw .invalidHeader(problem) }
        }
        stage = .features(phase)
        // The new stream has begun: from here on the response to <resume/> is pending, and the step has succeeded.
        if resumeInFlight != nil { isResumePending = true }
        return []
    }

    private mutating func received(_ element: Element) throws(NegotiationError) -> [Action] {
        switch stage {
        case .established, .over, .new: throw misuse("no element belongs here")
        // The parser was to be reset before TLS: an element here was sent unencrypted.
        case .securing: throw unexpected(element)
        default: break
        }
        if let error = StreamError(element) { throw .stream(error) }
        if let headerProblem { throw headerProblem }
        switch stage {
        case .features(.plain): return try secure(element)
        case .features(.secured): return configuration.authenticates ? try chooseLogin(element) : try stay(element)
        case .unauthenticated: return [.stanza(element)]
        case .features(.authenticated): return try chooseSession(element)
        case .requestingTLS: return try answeredTLS(element)
        case .authenticating(let attempt): return try authenticating(attempt, element)
        case .resuming(let resume, let features): return try answeredResume(element, resume, features)
        case .binding(let features, let bind): return try answeredBind(element, features, bind)
        case .bound(let bind) where !element.isStanza: return try manage(element, bind)
        case .bound, .enabling: return try uncounted(element)
        case .unwanted: return []
        default: throw unexpected(element)
        }
    }

    // MARK: - Learning

    /// Changes the state of the server; returns an action if it differs.
    mutating func learn(_ change: (inout KnownServer) -> Void) -> [Action] {
        let before = known
        change(&known)
        return known == before ? [] : [.learned(known)]
    }

    // MARK: - Errors

    func unexpected(_ element: Element) -> NegotiationError {
        let name = "<\(element.name.cut(to: 60)) xmlns='\((element.namespace ?? "").cut(to: 100))'>"
        return .unexpected(element: name, during: stage.description)
    }

    func misuse(_ what: String) -> NegotiationError { .misuse("\(what), while \(stage.description)") }
}

extension Negotiation.Stage: CustomStringConvertible {
    /// The present activity, worded to follow "while we were".
    var description: String {
        switch self {
        case .new: "not connected"
        case .header: "waiting for its stream header"
        case .features(.plain): "waiting for its offer of encryption"
        case .features(.secured): "waiting for its login mechanisms"
        case .features(.authenticated): "waiting for its features after the login"
        case .requestingTLS: "asking for encryption"
        case .securing: "setting up encryption"
        case .authenticating: "logging in"
        case .unauthenticated: "registering an account"
        case .planning: "choosing a session"
        case .resuming: "resuming a session"
        case .binding: "binding a resource"
        case .bound: "about to enable stream management"
        case .enabling: "enabling stream management"
        case .unwanted: "done without a session"
        case .established: "done with the negotiation"
        case .over: "done after an error"
        }
    }
}
