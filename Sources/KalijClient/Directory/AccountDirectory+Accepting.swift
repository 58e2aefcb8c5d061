import KalijSteps
import KalijFeatures
import KalijAddress
import KalijRoles
import KalijStore
import KalijStream

extension AccountDirectory {
    /// Runs `body` as a step of the account `jid`, or of the only one, in a process that need not drive, and tells the one
    /// that does. `body` may ask, schedule, make and settle promises, and change the application's own tables; who drives
    /// sends and calls. If nobody drives, the next engine does.
    /// - Returns: what `body` returns, once everything is on the disk.
    /// - Throws: `DirectoryError` if there is no such account or it is not clear which; `StoreError`, or what `body` throws:
    ///   then nothing has happened.
    @discardableResult
    public func accept<Result>(
        for jid: JID? = nil, clock: Clock = .system, _ body: (Step) throws -> Result
    ) throws -> Result {
        guard exists else { throw DirectoryError.noAccount(directory: path) }
        let database = try open(.machine, role: .share, now: clock.now())
        let account = try AccountTable(database).account(jid, in: self)
        return try ringing { try Step.accept(for: account, in: database, clock: clock, body) }
    }

    /// Logs in to the server of `jid` and, if it accepts, stores the account with what the next login needs (SCRAM keys where
    /// the mechanism has them). The directory is created if need be.
    /// - Parameters:
    ///   - resource: what to ask for at each bind; different in each installation of a user.
    ///   - seconds: how long the server may take.
    ///   - clock: where time comes from.
    ///   - jid: the account's address.
    ///   - password: what the user logs in with.
    ///   - server: how it is reached and trusted.
    /// - Throws: `LoginError`, `SystemError` of KalijTransport, `StoreError`; then nothing was stored.
    public func logIn(
        _ jid: JID, password: String, resource: String, server: ServerSettings = ServerSettings(),
        within seconds: Double = 60, clock: Clock = .system
    ) throws {
        let database = try open(.machine, role: .share, now: clock.now())
        let login = try Login.attempt(jid, password: password, server: server, within: seconds)
        try ringing {
            try AccountTable(database).store(
                jid: jid, server: server, login: login, resource: resource, clock: clock)
        }
    }
}
