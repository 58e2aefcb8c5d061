import KalijHandlers
import KalijCore
import KalijStore

/// The steps that log out an account.
package struct LogoutSteps {
    package let runner: StepRunner
    package let account: Account

    package init(runner: StepRunner, account: Account) { (self.runner, self.account) = (runner, account) }

    /// Runs the features' last requests to the server before the logout.
    /// - Returns: the names of the handlers whose responses are awaited.
    package func leave() throws -> (awaited: [String], Step.Effects) {
        var awaited: [String] = []
        let effects = try runner.run("leave", for: account) { step in
            for observer in step.hooks.accountObservers { awaited += try observer.prepareLogout(in: step) }
            step.flush()
        }
        return (awaited, effects)
    }

    /// Whether responses of the server are outstanding.
    package func isWaiting(for handlers: [String]) throws -> Bool {
        var isWaiting = false
        _ = try runner.run("leaving", for: account) { isWaiting = try Requests(step: $0).isWaiting(handlers) }
        return isWaiting
    }

    /// Invalidates pending requests, timers and promises, and deletes the credentials. An account that is to be removed loses all
    /// data.
    package func logOut(removing: Bool) throws -> Step.Effects {
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

    /// A handler that is invalidated may send a request again, and is then invalidated again, for a limited number of rounds.
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
        try step.transaction.events.write(at: step.now)
        try AccountTable(step.database).remove(account)
        step.transaction.unreadCounts.forget()
        step.transaction.forgetChatPartners()
    }
}
