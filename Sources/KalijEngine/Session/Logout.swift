import KalijCore

/// The logout of an account: ends the session at the server, invalidates pending requests and timers, and deletes the
/// credentials.
package final class Logout {
    private weak var driver: AccountDriver?
    private let isRemoving: Bool
    /// Called when everything was sent, with the reason if the session was not ended at the server.
    private let finished: (String?) -> Void
    /// The handlers whose responses are awaited; nil until the features have sent their requests.
    private var awaited: [String]?

    package init(_ driver: AccountDriver, removing: Bool, _ finished: @escaping (String?) -> Void) {
        (self.driver, isRemoving, self.finished) = (driver, removing, finished)
    }

    /// Ends the session at the server first, over a new connection if there is none.
    package func begin(within seconds: Double) throws {
        guard let driver else { return }
        let isOnline = driver.stage.session != nil
        // A session that cannot be resumed has ended with its connection.
        guard try isOnline || driver.steps.load().resumeID != nil else { return finish(without: try leftover(driver)) }
        guard seconds > 0 else { return finish(without: "it was not to be connected to") }
        if let refusal = driver.stage.refusal { return finish(without: refusal) }
        driver.alarms.set(.logout, after: seconds) { [weak self] in
            self?.finish(without: "no answer within \(Int(seconds)) s")
        }
        if isOnline { leave() } else { driver.connect() }
    }

    /// The requests that cannot be sent without a session; nil if there are none.
    private func leftover(_ driver: AccountDriver) throws -> String? {
        try steps(driver).leave().awaited.isEmpty ? nil : "there was no session in which to end pushes"
    }

    private func steps(_ driver: AccountDriver) -> LogoutSteps {
        LogoutSteps(runner: driver.context.runner, account: driver.account)
    }

    /// The session was resumed in order to end it, and all stanzas that the server had kept were received.
    package func caughtUp() {
        // In the loop's next turn, so that the current work is finished first.
        driver?.context.loop.enqueue { [weak self] in self?.leave() }
    }

    /// The features send their last requests to the server.
    private func leave() {
        guard let driver, driver.logout === self, awaited == nil else { return }
        driver.attempt {
            let (awaited, effects) = try steps(driver).leave()
            self.awaited = awaited
            driver.release(effects)
            if awaited.isEmpty { finish() } else { driver.queueChanged() }
        }
    }

    /// A stanza was handled: possibly the last response.
    package func stepped() {
        guard let driver, driver.logout === self, let awaited, !awaited.isEmpty else { return }
        driver.attempt {
            guard try !steps(driver).isWaiting(for: awaited) else { return }
            self.awaited = []
            driver.context.loop.enqueue { [weak self] in self?.finish() }
        }
    }

    /// Completes the logout now.
    /// - Parameter problem: why the session is not ended at the server.
    package func finish(without problem: String? = nil) {
        // Received stanzas are handled while there is a session: afterwards a stanza would be an error, which closes the
        // connection without ending the session.
        driver?.line?.deliverPlanned()
        guard let driver, driver.logout === self else { return }
        driver.logout = nil
        driver.alarms.cancel(.logout)
        driver.attempt {
            let logins = LoginSteps(runner: driver.context.runner, account: driver.account)
            // The counter is advanced before the tokens are deleted here.
            let approach = problem == nil ? try? logins.approach() : nil
            let effects = try steps(driver).logOut(removing: isRemoving)
            driver.context.emit(effects.events)
            driver.context.settled(effects.settled)
            driver.shutDown(endingSessionWithin: driver.context.timing.logout) { [finished, driver] isUnanswered in
                let problem = problem ?? (isUnanswered ? "the server did not answer the session's end" : nil)
                let (account, context) = (driver.account, driver.context)
                guard let approach, let end = TokenRevocation(account, approach, context) else {
                    return finished(problem)
                }
                end.run(account, approach, context, within: context.timing.logout) { finished(problem) }
            }
        }
    }
}
