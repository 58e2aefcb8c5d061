import KalijStore

/// The time of everything that waits: deadlines of requests, timers, promises, parcels in the mailbox. The steady time advances
/// with the machine, sleep included, however the machine's clock is set, and is the same for all processes of a directory.
///
/// Moments are milliseconds since 1970, by the clock at the first use of the directory after the start of the machine. A row
/// holds the difference to the machine's own time. After a restart of the machine only the clock is left as a source; but the
/// steady time never decreases.
package struct SteadyTime {
    private let clock: Clock
    /// The difference to the time since the start of the machine; changes with each start.
    package let base: Int64

    /// Milliseconds since 1970 in steady time.
    package var now: Int64 { Self.sum(clock.sinceBoot(), base) }

    /// The accuracy of the stored latest time, in milliseconds: not every deadline causes a write.
    private static let exactness: Int64 = 10_000

    private init(clock: Clock, base: Int64) { (self.clock, self.base) = (clock, base) }

    /// The time of `clock`, without a database.
    package init(_ clock: Clock) { self.init(clock: clock, base: Self.base(clock, clock.now())) }

    /// The time stored in `database`; nil if the database was not used since the start of the machine.
    package init?(reading database: Database, _ clock: Clock) throws {
        let base = try database.statement("SELECT base FROM clock WHERE boot = ?").first([.text(clock.boot())]) {
            $0.integer()
        }
        guard let base else { return nil }
        self.init(clock: clock, base: base)
    }

    /// The time stored in `database`; stores the time if there is none. Call this within a transaction.
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

    /// A stored deadline refers to this time: the time must not fall behind the present moment.
    package func record(in database: Database) throws {
        let now = now
        try database.run(
            "UPDATE clock SET last = ? WHERE last < ?", [.integer(now), .integer(Self.sum(now, -Self.exactness))])
    }

    private static func base(_ clock: Clock, _ now: Int64) -> Int64 {
        let (base, overflow) = now.subtractingReportingOverflow(clock.sinceBoot())
        return overflow ? now : base
    }

    /// `time` plus `milliseconds`, or the last possible moment.
    package static func sum(_ time: Int64, _ milliseconds: Int64) -> Int64 {
        let (sum, overflow) = time.addingReportingOverflow(milliseconds)
        return overflow ? (milliseconds < 0 ? .min : .max) : sum
    }
}
