import KalijFeatures
import KalijSteps
import KalijStore
import KalijStream

/// The steps for leaving stanzas: the queue, and the stanzas that the server does not take.
struct QueueSteps {
    let runner: StepRunner
    let account: Account

    /// The next departure from the queue.
    enum Departure {
        case nothing
        /// The next entries wait until the written entries are acknowledged.
        case later
        /// Some of the next entries were set aside.
        case refused(Step.Effects)
        /// Kept stanzas were queued.
        case queued(Step.Effects)
        /// The entries leave now. The rows that the entries rely on are on the disk.
        case transmit([OutboundQueue.Entry], Step.Effects)
    }

    /// Whether stanzas wait to be acknowledged or sent. The next process goes on with the reading of archives, which may take long.
    func isAny() throws -> Bool { try queue(runner.database).isAny(besides: ArchiveReading.requests) }

    /// The departure after the entries that `writer` has written. Commits the changes of the departure.
    func next(after writer: OutboundWriter, isManaged: Bool) throws -> Departure {
        let next = try queue(runner.database).entries(after: writer.position, limit: Self.portion)
        if next.count < Self.portion, let effects = try queueReady() { return .queued(effects) }
        guard !next.isEmpty else { return .nothing }
        // After the look: the entries found were committed before anybody else could have raised the fence.
        try runner.checkFence()
        if let effects = try setAsideTooLong(next) { return .refused(effects) }
        let entries = isManaged ? Array(writer.transmitting(next)) : next
        guard !entries.isEmpty else { return .later }
        let effects = try transmitting(entries)
        // If a power failure took back the commit, a message would leave once more in a new session. In the present session the
        // server's count would be taken for the count of entries queued since (simulation, seed 1777).
        try runner.raiseBarrier()
        return .transmit(entries, effects)
    }

    /// How many entries leave at once.
    private static let portion = 50

    /// Queues what features have kept and what may leave now; nil if there is nothing of the kind.
    private func queueReady() throws -> Step.Effects? {
        let ready = try runner.features.hooks.outgoingMessageInterceptors
            .filter { try $0.hasPendingOutgoing(for: account, in: runner.database) }
        guard !ready.isEmpty else { return nil }
        return try runner.run("ready", for: account) { step in
            for interceptor in ready { try interceptor.enqueuePending(in: step) }
        }
    }

    /// Commits that the messages and requests in `entries` are about to leave for the first time.
    func transmitting(_ entries: [OutboundQueue.Entry]) throws -> Step.Effects {
        let (messages, groupchats) = (entries.compactMap(\.message), entries.compactMap(\.groupchat))
        guard !messages.isEmpty || !groupchats.isEmpty || entries.contains(where: { $0.request != nil }) else {
            return Step.Effects()
        }
        return try runner.run("leaving", for: account) { step in
            try Requests.transmit(entries, in: step)
            try MessageWriter(step: step).transmit(groupchats: groupchats)
            guard !messages.isEmpty else { return }
            let end = try ArchiveRanges(database: step.database, account: account.id, archive: .own).end()
            try MessageWriter(step: step).transmit(messages, after: end)
        }
    }

    /// Forgets `entries` after their departure on a stream without acknowledgements.
    func transmitted(_ entries: [OutboundQueue.Entry]) throws -> Step.Effects {
        try runner.run("left", for: account) { step in
            for entry in entries { try queue(step.database).remove(entry.id) }
        }
    }

    /// The server has ended the stream while the entries up to `id` were unacknowledged.
    func blamed(through id: Int64, for error: StreamError) throws -> Step.Effects {
        try runner.run("blamed", for: account) { step in
            guard let entry = try queue(step.database).blame(through: id) else { return }
            try setAside(entry, Reason(other: "twice, \(error)"), in: step)
        }
    }

    /// Sets aside the stanzas of `entries` that are larger than the server takes by now; nil if there are none.
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
            for (entry, error) in refused { try setAside(entry, Reason(error), in: step) }
        }
    }

    /// The entry never leaves: a message has failed, any other stanza is a dead letter. The handler that waits for the answer to
    /// a request is told after the deadline of the request.
    private func setAside(_ entry: OutboundQueue.Entry, _ reason: Reason, in step: Step) throws {
        try queue(step.database).remove(entry.id)
        if let message = entry.message ?? entry.groupchat { return try MessageWriter(step: step).fail(message, reason) }
        try DeadLetters(step: step).bury(entry.stanza, named: "stanza", because: "\(reason)", from: .queue)
    }

    private func queue(_ database: Database) -> OutboundQueue { OutboundQueue(database: database, account: account.id) }
}
