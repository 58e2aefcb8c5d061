import KalijSteps
import KalijStore

extension Step {
    /// Runs `body` as a step of a process that does not drive: it may queue, register handlers, schedule timers, make and
    /// settle promises; the process that drives sends and calls. Ring that one's `Doorbell` around it.
    /// - Parameters:
    ///   - database: a connection that syncs (`Database.Durability.machine`), used by this thread alone.
    ///   - clock: where time comes from.
    ///   - account: whose.
    ///   - body: what the step does.
    /// - Returns: what `body` returns, once everything is on the disk.
    /// - Throws: `StoreError`, `StepError.withinStep` within a step of a process that drives, or what `body` throws; then nothing
    ///   has happened.
    @discardableResult
    public static func accept<Result>(
        for account: Account, in database: Database, clock: Clock = .system, _ body: (Step) throws -> Result
    ) throws -> Result {
        try StepRunner.checkOutside(database.path)
        return try database.transaction {
            let steady = try SteadyTime(in: database, clock)
            return try body(
                Step(database: database, account: account, now: clock.now(), steady: steady, features: .passive))
        }
    }
}
