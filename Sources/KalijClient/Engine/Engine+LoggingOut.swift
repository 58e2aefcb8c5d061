import KalijCore
import KalijEngine
import KalijAddress
import KalijTransport

/// The failures of a logout.
public struct LogoutReport: Sendable {
    /// The accounts whose sessions were not ended at the server, and why; such a session expires at the server.
    public internal(set) var unreached: [JID: String] = [:]
    /// Whether another process committed work in the meantime and relies on this process to send it.
    public internal(set) var wasRung = false

    /// A report without failures.
    public init() {}
}

extension Engine {
    /// Logs out the accounts of `directory` for which a logout was requested (``AccountTable/requestLogout(_:removing:)``): ends
    /// their sessions at the servers, invalidates waiting handlers, and deletes the credentials.
    ///
    /// A session without a connection is resumed for the logout, for at most ``Timing/logout`` seconds. A server that does not
    /// respond in that time keeps the session until it expires.
    /// - Parameters:
    ///   - options: with the application's handlers, which are invalidated.
    ///   - online: whether to connect to the servers at all.
    ///   - directory: the directory of the accounts.
    /// - Throws: `FenceError.held` if another process drives, which then logs out; `StoreError`.
    @discardableResult
    public static func logOutRequested(
        _ directory: AccountDirectory, options: Options = Options(), online: Bool = true
    ) throws -> LogoutReport {
        var options = options
        options.role = .background
        if !online { options.timing.logout = 0 }
        return try Engine(directory, options: options) { _ in }.logOut(within: options.timing.logout)
    }

    private func logOut(within seconds: Double) throws -> LogoutReport {
        let rung = Flag()
        doorbell.onRing = { [weak self] in
            rung.isSet = true
            guard let self, isStopRequested else { return }
            drivers.values.forEach { $0.logout?.finish(without: "another process was to drive") }
        }
        var report = try logOutAll(within: seconds)
        // Processes that signal from now on must not rely on this process.
        doorbell.stopListening()
        if !isCareful { try fence.letGo(database) }
        doorbell.disconnectCallers()
        report.wasRung = rung.isSet
        return report
    }

    private final class Flag { var isSet = false }
    private final class Unreached { var reasons: [JID: String] = [:] }

    private func logOutAll(within seconds: Double) throws -> LogoutReport {
        guard let context else { return LogoutReport() }
        let unreached = Unreached()
        for account in try AccountTable(database).all() where account.state.isToLogOut {
            let driver = AccountDriver(account, context: context, careful: isCareful)
            drivers[account.id] = driver
            driver.logOut(removing: account.state == .removing, within: seconds) { [weak self] problem in
                unreached.reasons[account.jid] = problem
                self?.drivers[account.id] = nil
                if self?.drivers.isEmpty == true { self?.environment.loop.stop() }
            }
        }
        // The connection, the end of the session and the revocation of the token may take this long each. Connections flush their
        // remaining bytes for a limited time.
        let patience = environment.loop.schedule(after: 3 * seconds + 3) { [environment] in environment.loop.stop() }
        if !drivers.isEmpty { environment.loop.run() }
        patience.cancel()
        drivers = [:]
        awaiter.close()
        if let failure = stopping.failure { throw failure }
        // Logouts that a full disk prevented.
        for account in try AccountTable(database).all() where account.state.isToLogOut {
            let steps = LogoutSteps(runner: context.runner, account: account)
            _ = try steps.logOut(removing: account.state == .removing)
        }
        var report = LogoutReport()
        report.unreached = unreached.reasons
        return report
    }
}
