import KalijSteps
import KalijAddress
import KalijStream
import KalijTransport

/// Finds out whether an account can log in, over one connection that ends after the authentication.
public final class Login {
    private let loop: EventLoop
    private let password: String
    private let line: Line
    private var outcome: Result<SuccessfulLogin, LoginError>?
    /// Whether the other side was found to speak TLS, or XMPP.
    private var isSecured = false
    private var isOpened = false

    /// Logs in to the server of `jid` with `password`.
    /// - Parameters:
    ///   - seconds: the longest time for the login.
    ///   - jid: the account's address.
    ///   - password: the user's password.
    ///   - server: how the server is reached and trusted.
    /// - Returns: the values to be stored.
    /// - Throws: `LoginError`, `SystemError`
    public static func attempt(
        _ jid: JID, password: String, server: ServerSettings, within seconds: Double = 60
    ) throws -> SuccessfulLogin {
        let login = try Login(jid, password: password)
        return try login.run(server, of: jid, within: seconds)
    }

    private init(_ jid: JID, password: String) throws {
        self.password = password
        loop = try EventLoop()
        line = Line(Negotiation.Configuration(jid, .password(password)), on: loop)
        line.onEvent = { [weak self] in self?.handle($0) }
    }

    private func run(_ server: ServerSettings, of jid: JID, within seconds: Double) throws -> SuccessfulLogin {
        _ = loop.schedule(after: seconds) { [weak self] in
            self?.fail("no answer from the server within \(Int(seconds)) s")
        }
        line.open { [loop] in
            Connection(loop: loop, target: server.target(for: jid), tls: server.tls(for: jid), $0)
        }
        loop.run()
        return try (outcome ?? .failure(.failed("the login ended without an outcome"))).get()
    }

    private func handle(_ event: Line.Event) {
        do {
            switch event {
            case .connected(let secured):
                isSecured = secured
                try negotiate(.connected(secured: secured))
            case .secured: try negotiate(.secured)
            case .arrived: try arrived()
            case .drained: break
            case .failed(let failure): finish(.failure(.unreachable(failure)))
            case .closed(let error): fail(error?.description ?? "the server closed the connection")
            }
        } catch let error as NegotiationError {
            finish(.failure(.refused(error)))
        } catch {
            fail("\(error)")
        }
    }

    private func arrived() throws {
        while outcome == nil, let event = line.inbox.first {
            if case .opened = event { isOpened = true }
            try negotiate(Negotiation.Event(event))
            line.take()
        }
        if outcome == nil, let error = line.inbox.error { throw error }
    }

    private func fail(_ reason: String) {
        finish(.failure(isSecured || isOpened ? .failed(reason) : .noStream(reason)))
    }

    private func negotiate(_ event: Negotiation.Event) throws {
        try line.negotiate(event) { action in
            guard case .authenticated(let mechanism, let keys) = action else { return }
            finish(.success(SuccessfulLogin(mechanism: mechanism, keys: keys, password: password)))
        }
    }

    private func finish(_ result: Result<SuccessfulLogin, LoginError>) {
        guard outcome == nil else { return }
        outcome = result
        line.close { [loop] in loop.stop() }
    }
}

/// Why a login failed.
public enum LoginError: Error, CustomStringConvertible {
    /// The server answered, and the negotiation failed: wrong password, no usable mechanism, ...
    case refused(NegotiationError)
    /// No server was reached.
    case unreachable(ConnectFailure)
    /// The connection ended before there was an answer.
    case failed(String)
    /// As ``failed(_:)``, on a connection without TLS: the other side has not even begun a stream. Perhaps the server speaks TLS
    /// from the first byte on (``ServerSettings/directTLS``).
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
