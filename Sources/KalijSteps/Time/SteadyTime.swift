import KalijStore

/// The time that what waits goes by: deadlines of requests, timers, promises, letters. It goes on as the machine does, sleep
/// included, whatever the clock of the machine is set to, and is the same for all processes of a directory.
///
/// Its moments are milliseconds since 1970, as the clock said when the directory was used first since the machine was started. A
/// row says what has to be added to the machine's own time. When the machine was started again the clock is all there is to go by;
/// but the steady time never goes back behind what it has been.
package struct SteadyTime {
    private let clock: Clock
    /// What is added to the time since the machine was started; it changes when the machine is started again.
    package let base: Int64

    /// Milliseconds since 1970, as steady time counts them.
    package var now: Int64 { Self.sum(clock.sinceBoot(), base) }

    /// How exact the latest time is, in milliseconds: not each deadline is to write.
    private static let exactness: Int64 = 10_000

    private init(clock: Clock, base: Int64) { (self.clock, self.base) = (clock, base) }

    /// As `clock` says, where no database does.
    package init(_ clock: Clock) { self.init(clock: clock, base: Self.base(clock, clock.now())) }

    /// As `database` has it; nil if it was not used since the machine was started.
    package init?(reading database: Database, _ clock: Clock) throws {
        let base = try database.statement("SELECT base FROM clock WHERE boot = ?").first([.text(clock.boot())]) {
            $0.integer()
        }
        guard let base else { return nil }
        self.init(clock: clock, base: base)
    }

    /// As `database` has it, or from now on has: to be called within a transaction.
    package init(in database: Database, _ clock: Clock) throws {
        if let known = try SteadyTime(reading: database, clock) {
            self = known
            return
        }
        let last = try database.statement("SELECT last FROM clock").first { $0.integer() }
        let now = max(clock.now(), last ?? .min)
        self.init(clock: clock, base: Self.base(clock, now))
        try database.run(
            "INSERT OR REPLACE INTO clock VALUES (1, ?, ?, ?)",
            [.text(clock.boot()), .integer(base), .integer(now)])
    }

    /// Something was stored that goes by this time: it is not to go back behind the present moment.
    package func note(in database: Database) throws {
        let now = now
        try database.run(
            "UPDATE clock SET last = ? WHERE last < ?", [.integer(now), .integer(Self.sum(now, -Self.exactness))])
    }

    private static func base(_ clock: Clock, _ now: Int64) -> Int64 {
        let (base, overflow) = now.subtractingReportingOverflow(clock.sinceBoot())
        return overflow ? now : base
    }

    /// `time` and as many milliseconds, or the last moment that there is.
    package static func sum(_ time: Int64, _ milliseconds: Int64) -> Int64 {
        let (sum, overflow) = time.addingReportingOverflow(milliseconds)
        return overflow ? (milliseconds < 0 ? .min : .max) : sum
    }
}
