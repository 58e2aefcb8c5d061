import KalijCore
import KalijAddress
import KalijStore
import KalijStream
import KalijXML

/// The steps of an account's session: how each event of the stream changes the database.
package struct SessionSteps {
    package let runner: StepRunner
    package let account: Account

    package init(runner: StepRunner, account: Account) { (self.runner, self.account) = (runner, account) }

    private func queue(in step: Step) -> OutboundQueue { OutboundQueue(database: step.database, account: account.id) }

    /// The stored session.
    package func load() throws -> SessionRow { try SessionRow.load(account.id, from: runner.database) }

    /// Records the stream features: the maximum size of a stanza in bytes, and the offers.
    package func record(_ features: StreamFeatures) throws {
        let (bytes, offers) = (features.largestStanza.map(Int64.init), features.offers)
        guard
            try SessionRow.maxStanzaSize(of: account.id, in: runner.database) != bytes
                || SessionRow.offers(of: account.id, in: runner.database) != offers
        else { return }
        _ = try runner.run("limits", for: account) { step in
            try SessionRow.set(largestStanza: bytes, of: account.id, in: step.database)
            try SessionRow.set(offers: offers, of: account.id, in: step.database)
        }
    }

    /// The server has resumed the session and handled the client's stanzas up to `count` (XEP-0198 section 5).
    ///
    /// Stanzas that were sent and are not in the count are looked up in the archive before they are sent again: the count may
    /// belong to a process of the server that took over the session without seeing every stanza (measured: while busy, ejabberd
    /// 23.01 assigns a session to each of several connections that request it).
    /// - Throws: `SessionError.impossibleCount` if fewer stanzas were sent.
    package func resumed(_ count: HandledCount) throws -> Step.Effects {
        try runner.run("resumed", for: account) { step in
            guard try !isOfAnother(count, in: step), try settle(to: count, in: step) else {
                throw SessionError.impossibleCount(count.value)
            }
            try markOnline(step)
            try UnreadSession.resumed(at: step.steady.now, of: account.id, in: step.database)
            try Requests(step: step).unqueueExpired()
            try hold(.resumed, in: step)
            for observer in step.hooks.sessionObservers { try observer.didResumeSession(in: step) }
            step.flush()
        }
    }

    /// The session is lost; `count` is the server's count of handled stanzas, nil if the server does not report it.
    /// - Parameter isMisfit: whether the server has counted more stanzas than were sent.
    package func resumeFailed(_ count: HandledCount?, isMisfit: Bool = false) throws -> Step.Effects {
        try runner.run("resume failed", for: account) { step in
            let isMisfit = try isMisfit || count.map { try isOfAnother($0, in: step) } ?? false
            if isMisfit {
                for observer in step.hooks.sessionObservers { try observer.didDetectCounterMismatch(in: step) }
            }
            if let count, !isMisfit { _ = try settle(to: count, in: step) }
            try SessionRow.set(resumeID: nil, of: account.id, in: step.database)
        }
    }

    /// A new session starts under the address `jid`. Messages of the previous session are looked up in the archive, and sent
    /// again if not found. Without an archive to query, a message remains `sent` and is reported.
    /// - Parameter carbons: whether the server has enabled carbons (XEP-0386 section 3.3).
    package func bound(_ jid: JID, carbons: Bool = false) throws -> Step.Effects {
        try runner.run("bound", for: account) { step in
            for observer in step.hooks.sessionObservers { try observer.didLoseSession(in: step) }
            try holdOrReport(step)
            try SessionRow.set(resumeID: nil, of: account.id, in: step.database)
            try SessionRow.begin(jid, of: account.id, in: step.database)
            if carbons { try SessionRow.set(carbons: true, of: account.id, in: step.database) }
            // This is last: stanzas sent by the handlers belong to the new session.
            try Requests(step: step).sessionLost()
        }
    }

    /// The new session is established. With a `resumeID` it is under stream management and can be resumed. Without stream
    /// management the entries of the queue are removed once they are sent.
    package func established(resumeID: String?) throws -> Step.Effects {
        try runner.run("established", for: account) { step in
            try SessionRow.set(resumeID: resumeID, of: account.id, in: step.database)
            try markOnline(step)
            for observer in step.hooks.sessionObservers { try observer.didBindSession(in: step) }
            try step.announcePresence()
        }
    }

    /// How long a transaction may be open before the last step in it starts, in nanoseconds.
    private static let maxDuration: Int64 = 5_000_000

    /// Handles stanzas that were received together, for as long as other writers may be blocked.
    /// - Returns: the effects of each step, all committed.
    package func handle(_ batch: inout Batch) throws -> [Step.Effects] {
        try runner.run("stanza", for: account, each: &batch, within: Self.maxDuration, Dispatcher.handle)
    }

    /// Handles one inbound stanza; `count` is the handled count including the stanza, nil without stream management.
    package func handle(_ stanza: Element, count: HandledCount?) throws -> Step.Effects {
        try runner.run("stanza", for: account) { step in
            try Dispatcher.handle(InboundBatch(stanzas: [stanza], count: count), in: step)
        }
    }

    /// Handles an archive result that could not be handled before, and removes the record of its failures.
    package func handle(_ stanza: Element, count: HandledCount?, failedBefore name: String) throws -> Step.Effects {
        try runner.run("stanza", for: account) { step in
            try Dispatcher.handle(InboundBatch(stanzas: [stanza], count: count), in: step)
            try FailedResults(database: step.database, account: account.id).handled(name)
        }
    }

    /// Whether a feature waits for the archive result `stanza`.
    package func isAwaited(_ stanza: Element) throws -> Bool {
        try runner.features.hooks.stanzaInterceptors
            .contains { try $0.isAwaiting(stanza, for: account, in: runner.database) }
    }

    /// Whether the server notifies the account's devices while no process is online.
    package func isPushed() throws -> Bool {
        try runner.features.hooks.accountObservers.contains { try $0.isPushed(account, in: runner.database) }
    }

    /// Stores a stanza that is set aside unprocessed, and counts it as handled.
    package func quarantine(_ stanza: QuarantinedStanza, count: HandledCount?) throws -> Step.Effects {
        try runner.run("quarantine", for: account) { step in
            try step.count(count)
            try stanza.store(in: step)
        }
    }

    /// The server has acknowledged the stanzas up to `count`.
    package func acknowledged(_ count: HandledCount) throws -> Step.Effects {
        try runner.run("acknowledged", for: account) { step in
            guard try settle(to: count, isRead: true, in: step) else {
                throw SessionError.impossibleCount(count.value)
            }
        }
    }

    /// Whether the server has counted stanzas that this database has not sent: the database is an old copy.
    private func isOfAnother(_ count: HandledCount, in step: Step) throws -> Bool {
        let acknowledged = try SessionRow.load(account.id, from: step.database).acknowledged
        let newly = count.distance(from: acknowledged)
        // A lower count is a different error.
        return try newly < UInt32.max / 2 && queue(in: step).hasNeverLeft(among: Int(newly))
    }

    /// Removes the stanzas that the server has handled up to `count`; false if fewer stanzas were sent.
    private func settle(to count: HandledCount, isRead: Bool = false, in step: Step) throws -> Bool {
        let acknowledged = try SessionRow.load(account.id, from: step.database).acknowledged
        let newly = Int(count.distance(from: acknowledged))
        guard let messages = try queue(in: step).removeFirst(newly) else { return false }
        try MessageWriter(step: step).acknowledged(messages)
        try SessionRow.set(acknowledged: count, isRead: isRead, of: account.id, in: step.database)
        return true
    }

    private func holdOrReport(_ step: Step) throws {
        let queue = queue(in: step)
        try queue.removeOthers()
        try hold(.bound, in: step)
        if try queue.holding() == .none { try UnknownOutcomes(step: step).reportAll() }
        try UnknownOutcomes(step: step).reportUnqueued()
    }

    private func hold(_ reason: OutboundQueue.HoldReason, in step: Step) throws {
        let isArchived = try step.hooks.archiveObservers.contains { try $0.mayShowOutcomes(in: step) }
        try queue(in: step).hold(reason, isArchived: isArchived)
    }

    private func forgetSession(_ step: Step) throws {
        try SessionRow.set(resumeID: nil, of: account.id, in: step.database)
    }

    private func markOnline(_ step: Step) throws {
        try SessionRow.set(onlineAt: step.now, of: account.id, in: step.database)
    }
}

/// Why a session cannot continue.
package enum SessionError: Error, CustomStringConvertible {
    /// The server's count exceeds the number of stanzas sent (XEP-0198 section 4).
    case impossibleCount(UInt32)

    package var description: String {
        switch self {
        case .impossibleCount(let count): "the server acknowledges \(count) stanzas, more than were sent"
        }
    }
}
