import KalijAddress
import KalijCoordination
import KalijCore
import KalijEngine
import KalijStream
import KalijTransport

extension AccountDirectory {
    /// Logs in as ``logIn(_:password:resource:server:within:clock:)`` and stores the account, without blocking the caller's thread.
    /// - Throws: as the other function; `CancellationError` as soon as the task is cancelled, in which case nothing is stored.
    public func addAccount(
        _ jid: JID, password: String, resource: String, server: ServerSettings = ServerSettings(),
        within seconds: Double = 60, clock: Clock = .system
    ) async throws {
        let login = try await Login.perform(jid, password: password, server: server, within: seconds)
        try Task.checkCancellation()
        try store(jid, login, server, resource: resource, clock)
    }

    /// Registers an account and stores it, as ``AccountRegistration/perform(_:)``. The inviter becomes a contact.
    /// - Parameters:
    ///   - registration: the server, and the invitation if there is one.
    ///   - resource: the resource requested at each bind.
    ///   - clock: the source of time.
    ///   - answer: completes the server's form; see ``AccountRegistration/perform(_:)``.
    /// - Returns: the address of the account.
    /// - Throws: as ``AccountRegistration/perform(_:)``; `StoreError`, in which case the account exists and is not stored.
    @discardableResult
    public func addAccount(
        _ registration: AccountRegistration, resource: String, clock: Clock = .system,
        answer: @escaping AccountRegistration.Answering
    ) async throws -> JID {
        let made = try await registration.perform(answer)
        try await addAccount(made, by: registration, resource: resource, clock: clock)
        return made.jid
    }

    /// Stores an account that a registration has made. The inviter becomes a contact. After an error it can be called again.
    /// - Parameters:
    ///   - made: the account, with its first login.
    ///   - registration: the registration that has made it.
    ///   - resource: the resource requested at each bind.
    ///   - clock: the source of time.
    /// - Throws: `DirectoryError`, `StoreError`
    public func addAccount(
        _ made: AccountRegistration.Outcome, by registration: AccountRegistration, resource: String,
        clock: Clock = .system
    ) async throws {
        try store(made.jid, made.login, registration.server, resource: resource, clock)
        // The server of the invitation most likely makes both contacts; another one needs the request.
        if let contact = registration.invitation?.contact { try share(contact, for: made.jid, clock: clock) }
    }

    private func store(
        _ jid: JID, _ login: SuccessfulLogin, _ server: ServerSettings, resource: String, _ clock: Clock
    ) throws {
        let database = try open(.machine, role: .share, now: clock.now(), clock: clock)
        try ringing {
            try AccountTable(database).store(
                jid: jid, server: server, login: login, resource: resource, clock: clock)
        }
    }
}

extension Login {
    /// Logs in as ``attempt(_:password:server:within:)``, on a thread of its own.
    /// - Returns: the values to store.
    /// - Throws: `LoginError`, `SystemError`; `EngineError.noThread`; `CancellationError` as soon as the task is cancelled, which
    ///   also ends the connection.
    public static func perform(
        _ jid: JID, password: String, server: ServerSettings, within seconds: Double = 60
    ) async throws -> SuccessfulLogin {
        try await RunningLogin.perform { running in
            let login = try Login(jid, password: password)
            guard running.begin(login), let found = try login.run(server, of: jid, within: seconds) else {
                throw CancellationError()
            }
            return found
        }
    }
}
