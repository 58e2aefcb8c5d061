import KalijSteps

/// The end of an account: ends the session at the server and all waiting, and forgets how to log in.
final class Logout {
    private weak var driver: AccountDriver?
    private let isRemoving: Bool
    /// Called when everything has left, with the reason if the session was not ended at the server.
    private let finished: (String?) -> Void

    init(_ driver: AccountDriver, removing: Bool, _ finished: @escaping (String?) -> Void) {
        (self.driver, isRemoving, self.finished) = (driver, removing, finished)
    }

    /// Ends the session at the server first, with a connection made for the purpose if there is none.
    func begin(within seconds: Double) throws {
        guard let driver else { return }
        // A session that cannot be resumed has ended with its connection.
        guard driver.stage.session == nil, try driver.steps.load().resumeID != nil else { return finish() }
        guard seconds > 0 else { return finish(without: "it was not to be connected to") }
        if let refusal = driver.stage.refusal { return finish(without: refusal) }
        driver.alarms.set(.logout, after: seconds) { [weak self] in
            self?.finish(without: "no answer within \(Int(seconds)) s")
        }
        driver.connect()
    }

    /// The session was resumed for its end, and all stanzas that the server had kept are here.
    func caughtUp() {
        // In the loop's next turn, so that the present work is finished first.
        driver?.context.loop.enqueue { [weak self] in self?.finish() }
    }

    /// Does now whatever the logout asked for.
    /// - Parameter problem: why the session is not ended at the server.
    func finish(without problem: String? = nil) {
        guard let driver, driver.logout === self else { return }
        driver.logout = nil
        driver.alarms.cancel(.logout)
        driver.attempt {
            let steps = LogoutSteps(runner: driver.context.runner, account: driver.account)
            let effects = try steps.logOut(removing: isRemoving)
            driver.context.emit(effects.events)
            driver.context.settled(effects.settled)
            driver.letGo(endingSession: true) { [finished] in finished(problem) }
        }
    }
}
