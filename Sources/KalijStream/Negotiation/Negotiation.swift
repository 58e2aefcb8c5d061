import KalijAddress
import KalijXML

/// The way from a connection to a session: RFC 6120 (STARTTLS, SASL, binding) and XEP-0198 (resuming, enabling).
///
/// A value without socket, clock and disk. The owner passes events in and carries out the returned actions:
///
/// ```swift
/// var negotiation = Negotiation(configuration)
/// for action in try negotiation.handle(.connected(secured: true)) { ... }
/// ```
///
/// Outside TLS nothing is said about the account, and nobody is authenticated. After an error every further event is an
/// error, too.
public struct Negotiation: Sendable {
    /// The starting point of a negotiation.
    public struct Configuration: Sendable {
        /// The account; a resource is ignored.
        public var account: JID
        /// Password or stored keys.
        public var credentials: Credentials
        /// At least 16 random bytes as printable ASCII without commas (Base64, say), new for each negotiation.
        public var nonce: String
        /// The mechanism of an earlier login: no weaker mechanism is accepted. Nil before the first login.
        public var weakestMechanism: SASLMechanism?
        /// The language for the server's messages to people (RFC 5646).
        public var language: String
        /// Whether to authenticate. If not, the stream is the owner's once the stream is encrypted: to register an account
        /// (XEP-0077 section 3.1).
        public var authenticates = true

        /// Makes a configuration.
        public init(
            account: JID, credentials: Credentials, nonce: String, weakestMechanism: SASLMechanism? = nil,
            language: String = "en"
        ) {
            self.account = account
            self.credentials = credentials
            self.nonce = nonce
            self.weakestMechanism = weakestMechanism
            self.language = language
        }
    }

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
        case authenticating(Authentication)
        case choosing(StreamFeatures, mayResume: Bool)
        case resuming(id: String, StreamFeatures)
        case binding(StreamFeatures)
        case bound
        case enabling
        case established
        case over
    }

    let configuration: Configuration
    var stage = Stage.new
    /// A fault of the server's header, kept back because a following stream error would explain more.
    private var headerProblem: NegotiationError?
    /// Whether `<resume/>` was sent and not answered. Still valid after an error: a connection that ends in between
    /// counts as a failed attempt to resume.
    public internal(set) var isResumePending = false

    /// Makes a negotiation for a new connection.
    public init(_ configuration: Configuration) {
        self.configuration = configuration
    }

    /// Takes an event.
    ///
    /// - Returns: the next actions, in this order.
    /// - Throws: `NegotiationError`; the connection is of no more use.
    public mutating func handle(_ event: Event) throws(NegotiationError) -> [Action] {
        do { return try take(event) } catch {
            stage = .over
            throw error
        }
    }

    private mutating func take(_ event: Event) throws(NegotiationError) -> [Action] {
        switch event {
        case .connected(let secured): return try connect(secured: secured)
        case .secured:
            guard case .securing = stage else { throw misuse("TLS was not asked for") }
            return [.restartParser, open(.secured)]
        case .opened(let header): return try opened(header)
        case .element(let element): return try received(element)
        case .closed:
            if let headerProblem { throw headerProblem }
            throw .closed(during: stage.description)
        case .resume(let id, let handled): return try resume(id: id, handled: handled)
        case .bind(let resource): return try bind(resource: resource)
        case .enableStreamManagement(let resumable, let maximum):
            return try enable(resumable: resumable, maximum: maximum)
        case .withoutStreamManagement:
            guard case .bound = stage else { throw misuse("there is no new session") }
            stage = .established
            return [.established]
        }
    }

    // MARK: - Streams

    private mutating func connect(secured: Bool) throws(NegotiationError) -> [Action] {
        guard case .new = stage else { throw misuse("connected twice") }
        guard configuration.account.isPrepared, configuration.account.local != nil else {
            throw .misuse("the account needs a valid address with a local part")
        }
        guard StreamHeader.isLanguage(configuration.language) else { throw .misuse("the language is no language tag") }
        return [open(secured ? .secured : .plain)]
    }

    /// Sends our header.
    mutating func open(_ phase: Phase) -> Action {
        stage = .header(phase)
        let header = StreamHeader.bytes(
            account: configuration.account, isSecured: phase != .plain && configuration.authenticates,
            language: configuration.language)
        return .send(header)
    }

    private mutating func opened(_ header: Element) throws(NegotiationError) -> [Action] {
        guard case .header(let phase) = stage else { throw unexpected(header) }
        if let problem = StreamHeader.problem(in: header, domain: configuration.account.domain) {
            headerProblem = .invalidHeader(problem)
            guard header.isNamed("stream", Namespace.stream) else { throw .invalidHeader(problem) }
        }
        stage = .features(phase)
        return []
    }

    private mutating func received(_ element: Element) throws(NegotiationError) -> [Action] {
        switch stage {
        case .established, .over, .new: throw misuse("no element belongs here")
        // The parser was to be emptied before TLS: an element here was sent in the clear.
        case .securing: throw unexpected(element)
        default: break
        }
        if let error = StreamError(element) { throw .stream(error) }
        if let headerProblem { throw headerProblem }
        switch stage {
        case .features(.plain): return try secure(element)
        case .features(.secured): return configuration.authenticates ? try authenticate(element) : try stay(element)
        case .unauthenticated: return [.stanza(element)]
        case .features(.authenticated): return try choose(element)
        case .requestingTLS: return try answeredTLS(element)
        case .authenticating(let authentication): return try authenticating(authentication, element)
        case .resuming(let id, let features): return try answeredResume(element, id: id, features)
        case .binding(let features): return try answeredBind(element, features)
        case .bound, .enabling: return try uncounted(element)
        default: throw unexpected(element)
        }
    }

    // MARK: - Errors

    func unexpected(_ element: Element) -> NegotiationError {
        let name = "<\(element.name.prefix(60)) xmlns='\((element.namespace ?? "").prefix(100))'>"
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
        case .choosing: "choosing a session"
        case .resuming: "resuming a session"
        case .binding: "binding a resource"
        case .bound: "about to enable stream management"
        case .enabling: "enabling stream management"
        case .established: "done with the negotiation"
        case .over: "done after an error"
        }
    }
}
