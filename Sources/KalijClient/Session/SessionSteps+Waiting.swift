import KalijSteps
import KalijFeatures
import KalijHandlers
import KalijStore
import KalijXML

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The steps in which handlers are called because of the time, or told that nothing will come.
extension SessionSteps {
    /// Calls one handler whose request is over its deadline at `time`; nil if there is none.
    func expire(_ which: Requests.Expired, until time: Int64) throws -> Step.Effects? {
        var found = false
        let effects = try runner.run("timeout", for: account) { step in
            found = try Requests(step: step).expireNext(which, until: time)
        }
        return found ? effects : nil
    }

    /// Queues a stanza that the server is to acknowledge, and whose answer nobody waits for.
    /// - Returns: with its entry in the queue.
    func mark() throws -> (Step.Effects, marker: Int64) {
        var marker: Int64 = 0
        let effects = try runner.run("marker", for: account) { step in
            let ping = Element.ping(nil)
            ping["id"] = UUID().uuidString.lowercased()
            try step.send(ping)
            marker = step.database.lastInsertedRow
        }
        return (effects, marker)
    }

    /// Whether the entry `id` of the queue is there no longer.
    func isAcknowledged(_ id: Int64) throws -> Bool {
        try runner.database.statement("SELECT 1 FROM queue WHERE id = ?").first([.integer(id)]) { _ in true } == nil
    }

    /// Does one thing that is due: a timer, a promise that is over its deadline or was settled elsewhere; nil if there is
    /// nothing.
    func due() throws -> Step.Effects? {
        var found = false
        let effects = try runner.run("timer", for: account) { step in
            let promises = Promises(step: step)
            found = try Timers(step: step).fireNext() || promises.expireNext() || promises.deliverNext()
            if !found { try promises.sweep() }
        }
        return found ? effects : nil
    }

    /// When the next request is over its deadline, of those that are not at `time`; nil if there is none.
    func nextDeadline(after time: Int64 = .min) throws -> Int64? {
        try runner.database.statement("SELECT min(deadline) FROM request WHERE account = ? AND deadline > ?")
            .first([.integer(account.id), .integer(time)]) { $0.optionalInteger() } ?? nil
    }

    /// When the next timer is due, or the next promise over its deadline; nil if there is nothing to wait for.
    func nextTimer() throws -> Int64? {
        let times = [
            try runner.database.statement("SELECT min(at) FROM timer WHERE account = ?"),
            try runner.database.statement("SELECT min(until) FROM promise WHERE account = ? AND result IS NULL"),
        ]
        return try times.compactMap { try $0.first([.integer(account.id)]) { $0.optionalInteger() } ?? nil }.min()
    }

    /// Ends everything that waits, and forgets how to log in; or, if the account is to be removed, everything about it.
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

    /// A handler that is told may ask something else, which is over as soon; but not for ever.
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
        try OutboundQueue(database: step.database, account: account.id).removeOthers(all: true)
        try step.database.run(
            "UPDATE account SET state = 'out', keys = NULL, password = NULL WHERE id = ?", [.integer(account.id)])
        try step.database.run(
            "UPDATE session SET resume_id = NULL, jid = NULL WHERE account = ?", [.integer(account.id)])
    }

    private func remove(_ step: Step) throws {
        // Before the messages that it refers to.
        try step.database.run("DELETE FROM queue WHERE account = ?", [.integer(account.id)])
        try step.database.run("DELETE FROM account WHERE id = ?", [.integer(account.id)])
    }
}
