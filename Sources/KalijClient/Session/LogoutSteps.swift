import KalijFeatures
import KalijHandlers
import KalijSteps
import KalijStore

/// The step that ends an account.
struct LogoutSteps {
    let runner: StepRunner
    let account: Account

    /// Has the features tell the server what has to be told before the end.
    /// - Returns: the names of the handlers whose answers are waited for.
    func leave() throws -> (awaited: [String], Step.Effects) {
        var awaited: [String] = []
        let effects = try runner.run("leave", for: account) { step in
            for observer in step.hooks.accountObservers { awaited += try observer.prepareLogout(in: step) }
            step.flush()
        }
        return (awaited, effects)
    }

    /// Whether answers of the server are missing.
    func isWaiting(for handlers: [String]) throws -> Bool {
        var isWaiting = false
        _ = try runner.run("leaving", for: account) { isWaiting = try Requests(step: $0).isWaiting(handlers) }
        return isWaiting
    }

    /// Ends all waiting, and forgets how to log in. An account that is to be removed loses everything.
    func logOut(removing: Bool) throws -> Step.Effects {
        try runner.run("logout", for: account) { step in
            let reason = removing ? Invalidation.accountRemoved : .loggedOut
            try invalidateAll(reason, in: step)
            if removing {
                try remove(step)
            } else {
                try forgetLogin(step)
            }
            step.emit(LoggedOut(removed: removing))
        }
    }

    /// A handler that is told may ask again, and is then told again, but not for ever.
    private func invalidateAll(_ reason: Invalidation, in step: Step) throws {
        for _ in 0..<10 {
            try Requests(step: step).invalidateAll(reason)
            try Timers(step: step).invalidateAll(reason)
            try Promises(step: step).rejectAll(reason)
            try step.finish()
        }
        try Requests(step: step).buryAll("it asked again and again, of an account that ends")
        try Timers(step: step).buryAll("it was set again and again, of an account that ends")
    }

    private func forgetLogin(_ step: Step) throws {
        for observer in step.hooks.accountObservers { try observer.didLogOut(in: step) }
        try OutboundQueue(database: step.database, account: account.id).removeOthers(all: true)
        try AccountTable(step.database).forgetLogin(of: account)
        try SessionRow.end(of: account.id, in: step.database)
    }

    private func remove(_ step: Step) throws {
        for observer in step.hooks.accountObservers { try observer.willRemoveAccount(in: step) }
        // Before the messages: entries of the queue refer to messages.
        try OutboundQueue(database: step.database, account: account.id).removeAll()
        try AccountTable(step.database).remove(account)
    }
}
