import KalijTransport

/// The end of an account: its session at the server, everything that waits, and how to log in.
extension AccountDriver {
    /// A logout that waits for the session, to end it at the server.
    struct Leaving {
        let removing: Bool
        /// Gives up waiting.
        var patience: Timer?
        /// Called when everything has left; says why the session was not ended at the server, if it was not.
        let finished: (String?) -> Void
    }

    /// Ends everything that the account waits for, and its session, and forgets how to log in.
    /// - Parameters:
    ///   - seconds: for so long the server is tried, if there is a session there that is not connected. When that time is
    ///     over the session is left to the server, which ends it by itself.
    ///   - finished: called from the loop at the end, with what went wrong with the server, if anything did.
    func logOut(removing: Bool, within seconds: Double, _ finished: @escaping (String?) -> Void) {
        guard leaving == nil else { return }
        attempt {
            leaving = Leaving(removing: removing, finished: finished)
            // A session that cannot be resumed ended with its connection.
            guard !isOnline, try steps.load().resumeID != nil else { return leave() }
            guard seconds > 0 else { return leave(without: "it was not to be connected to") }
            guard !isRefused else { return leave(without: refusal) }
            leaving?.patience = context.loop.schedule(after: seconds) { [weak self] in
                self?.leave(without: "no answer within \(Int(seconds)) s")
            }
            connect()
        }
    }

    /// The session was resumed to be ended: what the server sends again comes before the answer to this.
    func askBeforeLeaving() {
        guard leaving != nil else { return }
        requestAcknowledgement(within: context.timing.acknowledgement)
    }

    /// The answer came.
    func leaveIfResumed() {
        // In the loop's next turn: what is at hand is finished first.
        if leaving != nil { context.loop.enqueue { [weak self] in self?.leave() } }
    }

    /// Does what was asked for, now.
    /// - Parameter problem: why the session is not ended at the server.
    func leave(without problem: String? = nil) {
        guard let leaving else { return }
        self.leaving = nil
        leaving.patience?.cancel()
        attempt {
            let effects = try steps.logOut(removing: leaving.removing)
            context.emit(effects.events)
            context.settled(effects.settled)
            endStream { leaving.finished(problem) }
        }
    }
}
