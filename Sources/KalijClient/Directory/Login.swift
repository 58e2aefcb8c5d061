import KalijSteps
import KalijAddress
import KalijStream
import KalijTransport
import KalijXML

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One connection that authenticates and ends: finds out whether an account can log in.
public final class Login {
    private let jid: JID
    private let loop: EventLoop
    private let password: String
    private var connection: Connection?
    private var negotiation: Negotiation
    private var parser = StreamParser()
    private var outcome: Result<SuccessfulLogin, LoginError>?
    /// Whether what answers was found to speak TLS, or XMPP.
    private var isSecured = false
    private var isOpened = false

    /// Logs in to the server of `jid` with `password`.
    /// - Parameters:
    ///   - seconds: how long it may take.
    ///   - jid: the account's address.
    ///   - password: what the user logs in with.
    ///   - server: how it is reached and trusted.
    /// - Returns: what is to be stored.
    /// - Throws: `LoginError`, `SystemError`
    public static func attempt(
        _ jid: JID, password: String, server: ServerSettings, within seconds: Double = 60
    ) throws -> SuccessfulLogin {
        let login = Login(jid, password: password, loop: try EventLoop())
        return try login.run(server, within: seconds)
    }

    private init(_ jid: JID, password: String, loop: EventLoop) {
        self.jid = jid
        self.password = password
        self.loop = loop
        negotiation = Negotiation(
            Negotiation.Configuration(
                account: jid.bare, credentials: .password(password), nonce: UUID().uuidString + UUID().uuidString,
                weakestMechanism: nil))
    }

    private func run(_ server: ServerSettings, within seconds: Double) throws -> SuccessfulLogin {
        let connection = Connection(
            loop: loop, target: server.target(for: jid), tls: server.tls(for: jid)
        ) {
            [weak self] in self?.handle($0)
        }
        self.connection = connection
        _ = loop.schedule(after: seconds) { [weak self] in
            self?.fail("no answer from the server within \(Int(seconds)) s")
        }
        connection.open()
        loop.run()
        return try (outcome ?? .failure(.failed("the login ended without an outcome"))).get()
    }

    private func handle(_ event: ConnectionEvent) {
        do {
            switch event {
            case .connected(_, let tls):
                isSecured = tls != nil
                try negotiate(.connected(secured: isSecured))
            case .secured: try negotiate(.secured)
            case .received(let bytes): try receive(bytes)
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

    private func fail(_ reason: String) {
        finish(.failure(isSecured || isOpened ? .failed(reason) : .noStream(reason)))
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) throws {
        var events: [StreamParserEvent] = []
        let current = parser
        try parser.feed(bytes) { events.append($0) }
        for event in events {
            // Behind a restart nothing of the old stream counts.
            guard parser === current, outcome == nil else { return }
            switch event {
            case .opened(let header):
                isOpened = true
                try negotiate(.opened(header))
            case .element(let element): try negotiate(.element(element))
            case .skipped(let skipped):
                throw LoginError.failed("the server sent a <\(skipped.name)/> over the limit on \(skipped.limit)")
            case .closed: try negotiate(.closed)
            }
        }
    }

    private func negotiate(_ event: Negotiation.Event) throws {
        for action in try negotiation.handle(event) {
            switch action {
            case .send(let bytes): connection?.send(bytes)
            case .startTLS: connection?.startTLS()
            case .restartParser: parser = StreamParser()
            case .authenticated(let mechanism, let keys):
                finish(.success(SuccessfulLogin(mechanism: mechanism, keys: keys, password: password)))
            default: break
            }
        }
    }

    private func finish(_ result: Result<SuccessfulLogin, LoginError>) {
        guard outcome == nil else { return }
        outcome = result
        guard let connection else { return loop.stop() }
        connection.close { [loop] in loop.stop() }
        self.connection = nil
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
    /// Before that, on a connection without TLS, what answers has not even begun a stream: perhaps it speaks TLS from the first byte
    /// on (``ServerSettings/directTLS``).
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
