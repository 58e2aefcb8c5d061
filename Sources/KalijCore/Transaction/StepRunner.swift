import KalijCoordination
import KalijStore

import Glibc

/// Runs steps: opens the transaction, checks the fence in it, commits, and measures the duration.
package final class StepRunner {
    package let database: Database
    package let fence: Fence
    private let barrier: Barrier
    private let clock: Clock
    private let steady: SteadyTime
    package let features: Features
    private let mark: CrashMarker?
    private let notifies: Bool
    private let unreadCounts = UnreadCounts()
    private let chatPartners = ChatPartners()
    /// The quality of the link to the server, for each account; the accounts' drivers update it.
    package var links: [Int64: LinkQuality] = [:]
    /// Whether the process runs for a short while: then nothing is deferred, however slow the link.
    package var isBrief = false
    /// Whether a power failure could still undo a commit.
    private var isDirty: Bool

    /// - Parameters:
    ///   - isSynced: whether earlier commits of other processes survive a power failure, because the fence was taken
    ///     with a sync.
    ///   - steady: the time for deadlines; nil: the clock's time.
    package init(
        database: Database, fence: Fence, barrier: Barrier, clock: Clock, features: Features, mark: CrashMarker? = nil,
        notifies: Bool = false, isSynced: Bool = false, steady: SteadyTime? = nil
    ) {
        self.steady = steady ?? SteadyTime(clock)
        isDirty = !isSynced
        self.notifies = notifies
        self.features = features
        self.mark = mark
        self.database = database
        self.fence = fence
        self.barrier = barrier
        self.clock = clock
    }

    /// Milliseconds since 1970.
    package var now: Int64 { clock.now() }
    /// Milliseconds since 1970 in the time of deadlines (``SteadyTime``).
    package var steadyNow: Int64 { steady.now }

    /// Runs `body` as one step of `account`; no change is visible unless this function returns.
    /// - Throws: `FenceError.stale` if another process took over, `StoreError`, or what `body` throws.
    package func run(_ kind: StaticString, for account: Account, _ body: (Step) throws -> Void) throws -> Step.Effects {
        let step = step(for: account)
        defer { mark?.clear() }
        let start = clock.monotonic()
        try transaction {
            try body(step)
            try step.finish()
            try step.close()
        }
        return effects(of: step, kind, since: start)
    }

    /// Runs a step of `account` for each of `parts`, all of them in one transaction: if one step or the commit throws, all of
    /// them are rolled back.
    /// - Parameters:
    ///   - parts: on return, the parts that were not taken.
    ///   - limit: the time within which further steps may begin, in nanoseconds: no other writer has access meanwhile.
    ///   - body: performs the step of a part.
    /// - Returns: the effects of each step; the last element also contains the effects of the common end of the transaction.
    package func run<Parts: IteratorProtocol>(
        _ kind: StaticString, for account: Account, each parts: inout Parts, within limit: Int64,
        _ body: (Parts.Element, Step) throws -> Void
    ) throws -> [Step.Effects] {
        var all: [Step.Effects] = []
        defer { mark?.clear() }
        try transaction {
            let begin = clock.monotonic()
            var start = begin
            let state = TransactionState(database, account: account.id, unreadCounts, chatPartners)
            while start - begin < limit, let part = parts.next() {
                let step = step(for: account, in: state)
                try body(part, step)
                try step.finish()
                mark?.clear()
                all.append(effects(of: step, kind, since: start))
                start = clock.monotonic()
            }
            guard !all.isEmpty else { return }
            let end = step(for: account, in: state)
            try end.close(after: all)
            all[all.endIndex - 1].add(end.effects.counted)
        }
        return all
    }

    private func step(for account: Account, in state: TransactionState? = nil) -> Step {
        var link = links[account.id] ?? LinkQuality()
        link.isBrief = isBrief
        return Step(
            database: database, account: account, now: clock.now(), steady: steady, features: features, mark: mark,
            notifies: notifies, link: link,
            transaction: state ?? TransactionState(database, account: account.id, unreadCounts, chatPartners))
    }

    /// The effects of a step of the kind `kind` that began at `start`, with an event if the step was slow.
    private func effects(of step: Step, _ kind: StaticString, since start: Int64) -> Step.Effects {
        var effects = step.effects
        let milliseconds = (clock.monotonic() - start) / 1_000_000
        if milliseconds > 100 {
            effects.events.append(
                EngineEvent(
                    account: step.account.jid, at: step.now,
                    content: SlowStep(step: kind.description, milliseconds: milliseconds)))
        }
        if milliseconds > 1000 { try? count(slow: kind, milliseconds) }
        return effects
    }

    /// Writes a change that belongs to no account, under the fence.
    package func write(_ body: (Database) throws -> Void) throws { try transaction { try body(database) } }

    private func transaction(_ body: () throws -> Void) throws {
        let outer = Self.onThisThread
        Self.onThisThread = self
        defer { Self.onThisThread = outer }
        var isCommitted = false
        defer {
            if !isCommitted {
                unreadCounts.forget()
                chatPartners.forget()
            }
        }
        try database.transaction {
            try fence.check(database)
            try body()
        }
        (isCommitted, isDirty) = (true, true)
    }

    /// Throws `StepError.withinStep` if this thread is within a step on the database at `path`: the transaction of
    /// another connection would wait in vain.
    package static func checkOutside(_ path: String) throws {
        if onThisThread?.database.path == path { throw StepError.withinStep }
    }

    private static let threadKey: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, nil) == 0 ? key : nil
    }()

    /// The runner with an open transaction on this thread.
    private static var onThisThread: StepRunner? {
        get {
            // The pointer is there only during the runner's transaction, which keeps the runner alive.
            threadKey.flatMap { pthread_getspecific($0) }
                .map { Unmanaged<StepRunner>.fromOpaque($0).takeUnretainedValue() }
        }
        set {
            guard let threadKey else { return }
            // lives: taken back at the end of the runner's transaction, which keeps the runner alive
            pthread_setspecific(threadKey, newValue.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) })
        }
    }

    /// Frees the memory of the database's statements and pages; not to be called within a step.
    package func releaseMemory() { database.releaseMemory() }

    /// Throws `FenceError.stale` if another process took over: for work outside of steps.
    package func checkFence() throws { try fence.check(database) }

    /// Returns once all commits so far survive a power failure; then an `h` may be sent.
    package func raiseBarrier() throws {
        guard isDirty else { return }
        try barrier.raise()
        isDirty = false
    }

    /// The kinds of steps of which one took over a second: how many of each did, and the milliseconds of the longest.
    package static func slow(in database: Database) throws -> [(kind: String, count: Int, longest: Int)] {
        try database.prepare("SELECT kind, count, longest FROM slow_step ORDER BY kind").all { row in
            (row.text("kind"), Int(row.integer("count")), Int(row.integer("longest")))
        }
    }

    private func count(slow kind: StaticString, _ milliseconds: Int64) throws {
        try database.run(
            """
            INSERT INTO slow_step VALUES (?, 1, ?)
            ON CONFLICT (kind) DO UPDATE SET count = count + 1, longest = max(longest, excluded.longest)
            """, [.text(kind.description), .integer(milliseconds)])
    }
}
