import KalijCore
import KalijStore
import KalijStream

/// The steps for outbound stanzas: the queue, and the stanzas that the server rejects.
package struct QueueSteps {
    package let runner: StepRunner
    package let account: Account

    package init(runner: StepRunner, account: Account) { (self.runner, self.account) = (runner, account) }

    /// The next transmission from the queue.
    package enum Departure {
        case nothing
        /// The next entries wait until the written entries are acknowledged.
        case later
        /// Some of the next entries were set aside.
        case refused(Step.Effects)
        /// Stanzas that features had kept were queued.
        case queued(Step.Effects)
        /// The entries are sent now. The rows that the entries depend on are on the disk.
        case transmit([OutboundQueue.Entry], Step.Effects)
    }

    /// Whether stanzas are pending to be acknowledged or sent. Archive queries do not count: the sync may take long, and the next
    /// process resumes it.
    package func isAny() throws -> Bool { try queue(runner.database).isAny(besides: repeatable) }

    private var repeatable: [String] { runner.features.hooks.workReporters.flatMap { $0.repeatableRequests } }

    /// The transmission after the entries that `writer` has written. Commits its changes.
    package func next(after writer: OutboundWriter, isManaged: Bool) throws -> Departure {
        let next = try queue(runner.database).entries(after: writer.position, limit: Self.batchSize)
        if next.count < Self.batchSize, let effects = try queueReady() { return .queued(effects) }
        guard !next.isEmpty else { return .nothing }
        // After the query: the entries found were committed before another process could have raised the fence.
        try runner.checkFence()
        if let effects = try setAsideTooLong(next) { return .refused(effects) }
        let entries = isManaged ? Array(writer.transmitting(next)) : next
        guard !entries.isEmpty else { return .later }
        let effects = try transmitting(entries)
        // If a power failure undid the commit, a message would be sent once more in a new session. In the current session the
        // server's count would be mistaken for a count of entries queued since (simulation, seed 1777).
        try runner.raiseBarrier()
        return .transmit(entries, effects)
    }

    /// How many entries are sent at once.
    private static let batchSize = 50

    /// Queues the stanzas that features have kept and that may be sent now; nil if there are none.
    private func queueReady() throws -> Step.Effects? {
        let ready = try runner.features.hooks.outgoingMessageInterceptors
            .filter { try $0.hasPendingOutgoing(for: account, in: runner.database) }
        guard !ready.isEmpty else { return nil }
        return try runner.run("ready", for: account) { step in
            for interceptor in ready { try interceptor.enqueuePending(in: step) }
        }
    }

    /// Commits that the messages and requests in `entries` are about to be sent for the first time.
    package func transmitting(_ entries: [OutboundQueue.Entry]) throws -> Step.Effects {
        let (messages, groupchats) = (entries.compactMap(\.message), entries.compactMap(\.groupchat))
        guard !messages.isEmpty || !groupchats.isEmpty || entries.contains(where: { $0.request != nil }) else {
            return Step.Effects()
        }
        return try runner.run("leaving", for: account) { step in
            try Requests.transmit(entries, in: step)
            try MessageWriter(step: step).transmit(groupchats: groupchats)
            guard !messages.isEmpty else { return }
            var end: (id: String, position: Int64)?
            for observer in step.hooks.archiveObservers { end = try observer.lastArchived(in: step) ?? end }
            try MessageWriter(step: step).transmit(messages, after: end)
        }
    }

    /// Removes `entries` after their transmission on a stream without acknowledgements.
    package func transmitted(_ entries: [OutboundQueue.Entry]) throws -> Step.Effects {
        try runner.run("left", for: account) { step in
            for entry in entries { try queue(step.database).remove(entry.id) }
        }
    }

    /// The server has ended the stream while the entries up to `id` were unacknowledged.
    package func blamed(through id: Int64, for error: StreamError) throws -> Step.Effects {
        try runner.run("blamed", for: account) { step in
            guard let entry = try queue(step.database).blame(through: id) else { return }
            try setAside(entry, Reason(other: "twice, \(error)"), in: step)
        }
    }

    /// Sets aside the stanzas of `entries` that exceed the server's current size limit; nil if there are none.
    package func setAsideTooLong(_ entries: [OutboundQueue.Entry]) throws -> Step.Effects? {
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
            for (entry, error) in refused { try setAside(entry, Reason(error), in: step) }
        }
    }

    /// The entry is never sent: a message has failed, any other stanza becomes a dead letter. A handler that waits for the
    /// response to a request is called after the deadline of the request.
    private func setAside(_ entry: OutboundQueue.Entry, _ reason: Reason, in step: Step) throws {
        try queue(step.database).remove(entry.id)
        if let message = entry.message ?? entry.groupchat { return try MessageWriter(step: step).fail(message, reason) }
        try DeadLetters(step: step).bury(entry.stanza, named: "stanza", because: "\(reason)", from: .queue)
    }

    private func queue(_ database: Database) -> OutboundQueue { OutboundQueue(database: database, account: account.id) }
}
