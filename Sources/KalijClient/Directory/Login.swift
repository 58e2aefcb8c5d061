import KalijCore
import KalijEngine
import KalijAddress
import KalijStream
import KalijTransport

/// Logs in to a server, or registers an account, over one connection that is closed afterwards.
public final class Login {
    let loop: EventLoop
    private let password: String
    private let line: ClientStream
    private var outcome: Result<SuccessfulLogin?, any Error>?
    /// Set if the account is to be registered instead of logged in.
    private var registering: Registering?
    private var deadline: Timer?
    private var timeout = 60.0
    /// Whether the peer negotiated TLS, or opened an XMPP stream.
    private var isSecured = false
    private var isOpened = false

    /// Logs in to the server of `jid` with `password`.
    /// - Parameters:
    ///   - seconds: the timeout for the login.
    ///   - jid: the account's address.
    ///   - password: the user's password.
    ///   - server: how the server is reached and trusted.
    /// - Returns: the values to store.
    /// - Throws: `LoginError`, `SystemError`
    public static func attempt(
        _ jid: JID, password: String, server: ServerSettings, within seconds: Double = 60
    ) throws -> SuccessfulLogin {
        let login = try Login(jid, password: password)
        guard let found = try login.run(server, of: jid, within: seconds) else { throw LoginError.failed("no login") }
        return found
    }

    private struct Registering {
        var registration: Registration
        let answer: (RegistrationForm) throws -> NewAccount
    }

    convenience init(_ jid: JID, password: String) throws { try self.init(jid, password: password, registering: nil) }

    /// A registration at the server `domain`.
    /// - Parameter answer: completes the server's form.
    convenience init(
        registeringAt domain: JID, token: String?, answer: @escaping (RegistrationForm) throws -> NewAccount
    ) throws {
        let registration = Registration(at: domain.domain, token: token)
        try self.init(domain, password: "", registering: Registering(registration: registration, answer: answer))
    }

    private init(_ jid: JID, password: String, registering: Registering?) throws {
        (self.password, self.registering) = (password, registering)
        loop = try EventLoop()
        var configuration = Negotiation.Configuration(jid, .password(password))
        configuration.authenticates = registering == nil
        line = ClientStream(configuration, on: loop)
        line.onEvent = { [weak self] in self?.handle($0) }
    }

    private func expectAnswer(within seconds: Double) {
        deadline?.cancel()
        deadline = loop.schedule(after: seconds) { [weak self] in
            self?.fail("no answer from the server within \(Int(seconds)) s")
        }
    }

    func run(_ server: ServerSettings, of jid: JID, within seconds: Double) throws -> SuccessfulLogin? {
        timeout = seconds
        expectAnswer(within: seconds)
        line.open { [loop] in
            Connection(loop: loop, target: server.target(for: jid), tls: server.tls(for: jid), $0)
        }
        loop.run()
        return try (outcome ?? .failure(LoginError.failed("the login ended without an outcome"))).get()
    }

    private func handle(_ event: ClientStream.Event) {
        do {
            switch event {
            case .connected(_, let tls):
                isSecured = tls != nil
                try negotiate(.connected(secured: tls.map(ChannelBindings.init), known: KnownServer()))
            case .secured(let tls): try negotiate(.secured(ChannelBindings(tls)))
            case .ticket: break
            case .arrived: try arrived()
            case .drained: break
            case .failed(let failure): finish(.failure(LoginError.unreachable(failure)))
            case .closed(let error): fail(error?.description ?? "the server closed the connection")
            }
        } catch let error as NegotiationError {
            finish(.failure(LoginError.refused(error)))
        } catch  where registering != nil {
            finish(.failure(error))
        } catch {
            fail("\(error)")
        }
    }

    private func arrived() throws {
        while outcome == nil, let event = line.inbox.first {
            if case .opened = event { isOpened = true }
            try negotiate(Negotiation.Event(event))
            line.inbox.removeFirst()
        }
        if outcome == nil, let error = line.inbox.error { throw error }
    }

    private func fail(_ reason: String) {
        finish(.failure(isSecured || isOpened ? LoginError.failed(reason) : LoginError.noStream(reason)))
    }

    private func negotiate(_ event: Negotiation.Event) throws {
        try line.negotiate(event) { action in
            switch action {
            case .authenticated(let login):
                // A login without a mechanism used a token, and none is stored here.
                guard let mechanism = login.mechanism else { return fail("the login was by no password") }
                let found = SuccessfulLogin(
                    mechanism: mechanism, keys: login.keys, password: password, pins: login.pins)
                finish(.success(found))
            case .unauthenticated(let features): try register(.began(features))
            case .stanza(let element): try register(.element(element))
            default: break
            }
        }
    }

    private func register(_ event: Registration.Event) throws {
        for action in try registering?.registration.handle(event) ?? [] {
            switch action {
            case .send(let stanza): line.send(stanza.bytes(in: "jabber:client"))
            case .registered: finish(.success(nil))
            case .ask(let form):
                guard let answer = registering?.answer else { return }
                // The user's response has no timeout; nothing else happens on this thread in the meantime.
                let account = try answer(form)
                expectAnswer(within: timeout)
                try register(
                    .answered(
                        username: account.jid.local ?? "", password: account.password, values: account.values))
            }
        }
    }

    func finish(_ result: Result<SuccessfulLogin?, any Error>) {
        guard outcome == nil else { return }
        outcome = result
        line.close { [loop] _ in loop.stop() }
    }
}

/// Why a login failed.
public enum LoginError: Error, CustomStringConvertible {
    /// The server responded, and the negotiation failed: wrong password, no usable mechanism, ...
    case refused(NegotiationError)
    /// No server was reached.
    case unreachable(ConnectFailure)
    /// The connection ended before the server responded.
    case failed(String)
    /// As ``failed(_:)``, on a connection without TLS: the peer has not opened a stream. The server may expect TLS from the first
    /// byte on (``ServerSettings/directTLS``).
    case noStream(String)

    public var description: String {
        switch self {
        case .refused(let error): error.description
        case .unreachable(let failure): failure.description
        case .failed(let reason): reason
        case .noStream(let reason): "what answers does not speak XMPP: \(reason)"
        }
    }
}
