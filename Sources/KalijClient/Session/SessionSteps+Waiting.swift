import KalijCore
import KalijFeatures
import KalijHandlers
import KalijStore
import KalijXML

import FoundationEssentials

/// The steps that call handlers at a time, or report to handlers that no response will be received.
extension SessionSteps {
    /// Calls one handler whose request has passed its deadline at `time`; nil if there is none.
    package func expire(_ which: Requests.Expired, until time: Int64) throws -> Step.Effects? {
        var found = false
        let effects = try runner.run("timeout", for: account) { step in
            found = try Requests(step: step).expireNext(which, until: time)
        }
        return found ? effects : nil
    }

    /// Queues a stanza for the server to acknowledge. Its response has no handler.
    /// - Returns: the effects, and the stanza's entry in the queue.
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

    /// Whether the entry `id` was removed from the queue.
    func isAcknowledged(_ id: Int64) throws -> Bool {
        try !OutboundQueue(database: runner.database, account: account.id).contains(id)
    }

    /// Handles one due timer or promise, which has passed its deadline or was settled elsewhere; nil if there is none.
    package func due() throws -> Step.Effects? {
        var found = false
        let effects = try runner.run("timer", for: account) { step in
            let promises = Promises(step: step)
            found = try Timers(step: step).fireNext() || promises.expireNext() || promises.deliverNext()
            if !found { try promises.sweep() }
        }
        return found ? effects : nil
    }

    /// The next deadline of a request, excluding deadlines up to `time`; nil if there is none.
    func nextDeadline(after time: Int64 = .min) throws -> Int64? {
        try Requests.nextDeadline(after: time, of: account.id, in: runner.database)
    }

    /// The next time of a timer, or deadline of a promise; nil without either.
    func nextTimer() throws -> Int64? {
        let timer = try Timers.next(of: account.id, in: runner.database)
        let promise = try Promises.nextDeadline(of: account.id, in: runner.database)
        return [timer, promise].compactMap { $0 }.min()
    }
}
