import KalijCore
import KalijFeatures
import KalijAddress
import KalijCoordination
import KalijStore
import KalijStream

extension AccountDirectory {
    /// Runs `body` as a step of the account `jid`, or of the only account, in a process that need not drive, and signals the
    /// driver. `body` may send requests, schedule timers, create and settle promises, and change the application's own tables.
    /// The driver sends the stanzas and calls the handlers; without a driver, the next engine does.
    /// - Returns: the result of `body`, once all changes are on the disk.
    /// - Throws: `DirectoryError` if the account is missing or ambiguous; `StoreError`, or the error of `body`. In each case
    ///   nothing was changed.
    @discardableResult
    public func accept<Result>(
        for jid: JID? = nil, clock: Clock = .system, _ body: (Step) throws -> Result
    ) throws -> Result {
        guard exists else { throw DirectoryError.noAccount(directory: path) }
        let database = try open(.machine, role: .share, now: clock.now(), clock: clock)
        let account = try AccountTable(database).account(jid, in: self)
        return try ringing { try Step.accept(for: account, in: database, clock: clock, body) }
    }

    /// Logs in to the server of `jid`. On success, stores the account with the credentials for the next login (SCRAM keys if the
    /// mechanism has them). Creates the directory if it is missing.
    /// - Parameters:
    ///   - resource: the resource requested at each bind; it differs between a user's installations.
    ///   - seconds: the timeout for the server.
    ///   - clock: the source of time.
    ///   - jid: the account's address.
    ///   - password: the user's password.
    ///   - server: how the server is reached and trusted.
    /// - Throws: `LoginError`, `SystemError` of KalijTransport, `StoreError`. In each case nothing was stored.
    public func logIn(
        _ jid: JID, password: String, resource: String, server: ServerSettings = ServerSettings(),
        within seconds: Double = 60, clock: Clock = .system
    ) throws {
        let database = try open(.machine, role: .share, now: clock.now(), clock: clock)
        let login = try Login.attempt(jid, password: password, server: server, within: seconds)
        try ringing {
            try AccountTable(database).store(
                jid: jid, server: server, login: login, resource: resource, clock: clock)
        }
    }
}
