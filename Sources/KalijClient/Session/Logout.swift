import KalijSteps

/// The end of an account: its session at the server, everything that waits, and how to log in.
final class Logout {
    private weak var driver: AccountDriver?
    private let isRemoving: Bool
    /// Called when everything has left; says why the session was not ended at the server, if it was not.
    private let finished: (String?) -> Void

    init(_ driver: AccountDriver, removing: Bool, _ finished: @escaping (String?) -> Void) {
        (self.driver, isRemoving, self.finished) = (driver, removing, finished)
    }

    /// Connects first, to end the session at the server, if there is one that is not connected.
    func begin(within seconds: Double) throws {
        guard let driver else { return }
        // A session that cannot be resumed ended with its connection.
        guard driver.stage.session == nil, try driver.steps.load().resumeID != nil else { return finish() }
        guard seconds > 0 else { return finish(without: "it was not to be connected to") }
        if let refusal = driver.stage.refusal { return finish(without: refusal) }
        driver.alarms.set(.logout, after: seconds) { [weak self] in
            self?.finish(without: "no answer within \(Int(seconds)) s")
        }
        driver.connect()
    }

    /// The session was resumed to be ended, and everything is here that the server had to say.
    func caughtUp() {
        // In the loop's next turn: what is at hand is finished first.
        driver?.context.loop.enqueue { [weak self] in self?.finish() }
    }

    /// Does what was asked for, now.
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
