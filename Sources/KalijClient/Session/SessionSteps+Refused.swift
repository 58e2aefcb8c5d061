import KalijSteps
import KalijFeatures
import KalijStore
import KalijStream

/// The steps for stanzas of ours that the server does not take.
extension SessionSteps {
    /// The server has ended the stream while the entries up to `id` were unacknowledged.
    func blamed(through id: Int64, for error: StreamError) throws -> Step.Effects {
        try runner.run("blamed", for: account) { step in
            let queue = OutboundQueue(database: step.database, account: account.id)
            guard let entry = try queue.blame(through: id) else { return }
            try setAside(entry, "twice, \(error)", in: step)
        }
    }

    /// Sets aside what of `entries` is larger than the server takes by now; nil if that is nothing.
    func setAsideTooLong(_ entries: [OutboundQueue.Entry]) throws -> Step.Effects? {
        let queue = OutboundQueue(database: runner.database, account: account.id)
        let refused =
            try entries.compactMap { entry in
                do {
                    try queue.check(entry.stanza)
                    return nil
                } catch let error as StanzaTooLong { return (entry, error) }
            } as [(OutboundQueue.Entry, StanzaTooLong)]
        guard !refused.isEmpty else { return nil }
        return try runner.run("refused", for: account) { step in
            for (entry, error) in refused { try setAside(entry, "\(error)", in: step) }
        }
    }

    /// It does not leave any more: a message has failed, anything else is a dead letter. Whoever waits for the answer to a request
    /// is told when its time is over.
    private func setAside(_ entry: OutboundQueue.Entry, _ reason: String, in step: Step) throws {
        try OutboundQueue(database: step.database, account: account.id).remove(entry.id)
        if let message = entry.message { return try Messages(step: step).fail(message, reason) }
        try DeadLetters(step: step).bury(entry.stanza, named: "stanza", because: reason, from: .queue)
    }
}
