import KalijRoles
import KalijStore

/// Runs steps: opens the transaction, checks the fence in it, commits, and measures.
final class StepRunner {
    let database: Database
    private let fence: Fence
    private let barrier: Barrier
    private let clock: Clock
    private let known: KnownHandlers
    private let mark: CallMark?
    private let notifies: Bool
    /// Whether something was committed that a power failure could still undo.
    private var isDirty = true

    init(
        database: Database, fence: Fence, barrier: Barrier, clock: Clock, known: KnownHandlers, mark: CallMark? = nil,
        notifies: Bool = false
    ) {
        self.notifies = notifies
        self.known = known
        self.mark = mark
        self.database = database
        self.fence = fence
        self.barrier = barrier
        self.clock = clock
    }

    /// Milliseconds since 1970.
    var now: Int64 { clock.now() }

    /// Runs `body` as one step of `account`; nothing of it is visible unless this returns.
    /// - Throws: `FenceError.stale` if another process took over, `StoreError`, or what `body` throws.
    func run(_ kind: StaticString, for account: Account, _ body: (Step) throws -> Void) throws -> Step.Effects {
        let step = Step(
            database: database, account: account, now: clock.now(), known: known, mark: mark, notifies: notifies)
        defer { mark?.clear() }
        let start = clock.monotonic()
        try database.transaction {
            try fence.check(database)
            try body(step)
            try step.finish()
        }
        isDirty = true
        var effects = step.effects
        let milliseconds = (clock.monotonic() - start) / 1_000_000
        if milliseconds > 100 {
            effects.events.append(
                EngineEvent(
                    account: account.jid, at: step.now,
                    kind: .slowStep(kind: kind.description, milliseconds: milliseconds)))
        }
        if milliseconds > 1000 { try? count(slow: kind, milliseconds) }
        return effects
    }

    /// Writes something that is no account's, under the fence.
    func note(_ body: (Database) throws -> Void) throws {
        try database.transaction {
            try fence.check(database)
            try body(database)
        }
        isDirty = true
    }

    /// Throws `FenceError.stale` if another process took over: for what is not a step.
    func checkFence() throws { try fence.check(database) }

    /// Returns once everything committed so far survives a power failure; an `h` may be told then.
    func raiseBarrier() throws {
        guard isDirty else { return }
        try barrier.raise()
        isDirty = false
    }

    private func count(slow kind: StaticString, _ milliseconds: Int64) throws {
        try database.run(
            """
            INSERT INTO slow_step VALUES (?, 1, ?)
            ON CONFLICT (kind) DO UPDATE SET count = count + 1, longest = max(longest, excluded.longest)
            """, [.text(kind.description), .integer(milliseconds)])
    }
}
