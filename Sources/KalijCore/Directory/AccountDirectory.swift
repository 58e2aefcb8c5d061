import KalijCoordination
import KalijStore

import Glibc

/// The directory with all data of a user's accounts: one database, the lock file, the driver's socket.
public struct AccountDirectory: Sendable {
    /// The path of the directory.
    public let path: String
    package let platform: Platform

    /// The tables of the database.
    package let schema: Schema

    /// Called before the tables of an older version are brought up to date, which takes half a minute with a million messages; nothing is
    /// lost if the process is killed meanwhile.
    public var willMigrate: (@Sendable () -> Void)?

    /// Uses the directory at `path`, which need not exist yet.
    package init(_ path: String, platform: Platform, schema: Schema) {
        (self.path, self.platform, self.schema) = (path, platform, schema)
    }

    package func mailbox(busySeconds: Double = 10) throws -> Mailbox {
        try Mailbox(directory: path, signals: platform.signals, busySeconds: busySeconds)
    }

    /// Opens the mailbox in the driver; a damaged mailbox is set aside and replaced.
    package func mailbox(under fence: Fence, _ database: Database, _ clock: Clock) throws -> Mailbox {
        do {
            let mailbox = try mailbox()
            try mailbox.check()
            return mailbox
        } catch let error as StoreError where error.isDamage(ofMailboxIn: path) {
            try fence.check(database)
            let damage = try Mailbox.setAsideIfDamaged(
                path, taken: try? MailboxImporter.place(in: database), now: clock.now())
            let mailbox = try mailbox()
            mailbox.damage = damage
            return mailbox
        }
    }

    /// Reports to the driver that the mailbox is damaged, so that the driver checks it.
    package func reportDamage() {
        Mailbox.report(damageIn: path)
        _ = bell()
    }

    /// A connection to the driver's doorbell; nil if no process drives.
    private func bell() -> (any DoorbellConnection)? { platform.signals.bell(directory: path, at: .driver) }

    /// Runs `commit`, which commits work for the driver, and signals the driver when this function returns or this process dies.
    ///
    /// `commit` may wait for a frozen writer. In the meantime another process may have become the driver, checked for work before
    /// the commit, and missed the signal. The driver is therefore signalled a second time.
    public func ringing<Result>(_ commit: () throws -> Result) rethrows -> Result {
        let before = bell()
        let result = try commit()
        let after = bell()
        withExtendedLifetime((before, after)) {}
        return result
    }

    /// The path of the database (SQLite).
    public var databasePath: String { path + "/kalij.db" }
    package var lockPath: String { path + "/driver.lock" }
    package var markPath: String { path + "/driver.calls" }

    /// Whether there is a database.
    public var exists: Bool { access(databasePath, F_OK) == 0 }

    /// Opens the database for reading; never blocks on a running process. Migrates the tables first, if they are of an older version and
    /// no process drives.
    /// - Throws: `DirectoryError.noAccount` if there is none; `StoreError`, `.newerVersion` among them.
    public func read() throws -> Database {
        guard let (database, state) = try schema.open(reading: databasePath), state != .empty else {
            throw DirectoryError.noAccount(directory: path)
        }
        guard state == .older else { return database }
        do {
            _ = try open(.machine, role: .share, now: Clock.system.now())
        } catch FenceError.held {
            // The process of the older version goes on: what has not changed since can be read.
            return database
        } catch let error as StoreError where error.code == .cannotOpen {
            return database
        }
        return try Database(reading: databasePath)
    }

    /// Opens the database for writing in a process that does not drive. Migrates the tables first if no other process drives.
    /// Creates the directory with access for its user only.
    /// - Parameters:
    ///   - durability: what a commit survives.
    ///   - role: the purpose of this process.
    ///   - now: milliseconds since 1970.
    ///   - clock: the source of time; also indicates whether the machine has booted since the last use.
    /// - Throws: `FenceError.held` if the tables are of an older version and a process of that version drives; `StoreError`.
    public func open(
        _ durability: Database.Durability, role: Role, now: Int64, clock: Clock = .system
    ) throws -> Database {
        try create()
        let state = try schema.check(path: databasePath)
        let database = try Database(path: databasePath, durability: durability)
        if state != .current {
            let (fence, previous) = try migrate(database, role: role, now: now)
            // If the last driver did not release the fence, the next driver has to detect that.
            if previous?.letGo ?? true { try fence.letGo(database) }
        } else {
            try leaveOutAfterPowerFailure(database, clock)
        }
        return database
    }

    /// The first process after a boot need not be a driver. A driver that held the fence may have died with the machine and lost
    /// its last commits: their event numbers and message ids are skipped and never reused.
    private func leaveOutAfterPowerFailure(_ database: Database, _ clock: Clock) throws {
        guard try SteadyTime(reading: database, clock) == nil, try !Fence.wasLetGo(in: database) else { return }
        try database.transaction {
            guard try SteadyTime(reading: database, clock) == nil else { return }
            _ = try SteadyTime(in: database, clock)
            try EventPublisher.leaveNumbersOut(in: database, now: clock.now())
            try MessageFeed.leaveOut(in: database)
        }
    }

    /// Opens the database in the driver.
    /// - Parameters:
    ///   - abandoned: an owner that does not respond; the fence is raised over this owner.
    ///   - schema: the tables of all features of the process.
    /// - Throws: `FenceError.held` if another process drives; `DirectoryError.unknownFeatures`; `StoreError`, `.busy` after a second.
    package func drive(
        role: Role, now: Int64, over abandoned: FenceOwner? = nil, schema: Schema? = nil
    ) throws -> (database: Database, fence: Fence, careful: Bool) {
        let schema = schema ?? self.schema
        try create()
        if let (database, state) = try schema.open(reading: databasePath), state != .empty {
            try checkFeatures(database, schema)
        }
        let database = try Database(path: databasePath, durability: .process, busySeconds: 1)
        // After a power failure the fence number must not be issued twice: the mailbox may refer to the first owner with the
        // number.
        try database.execute("PRAGMA synchronous=FULL")
        let (fence, previous) = try migrate(database, role: role, now: now, over: abandoned, schema) {
            // Another process may have begun to drive with other features in the meantime.
            try checkFeatures(database, schema)
        }
        if let previous, !previous.letGo {
            try database.transaction {
                try fence.check(database)
                try EventPublisher.leaveNumbersOut(in: database, now: now)
                try MessageFeed.leaveOut(in: database)
            }
        }
        try database.execute("PRAGMA synchronous=NORMAL; PRAGMA busy_timeout=10000")
        return (database, fence, previous.map { !$0.letGo } ?? false)
    }

    /// The process that drives, or the last driver while it holds the lock; never blocks.
    package func owner() throws -> FenceOwner? {
        guard exists else { return nil }
        return try Fence.current(in: Database(reading: databasePath), lockPath: lockPath)
    }

    /// The time base for mailbox requests and deadlines. Falls back to the clock's time if the database cannot be read, or was
    /// not used since boot.
    package func steadyNow(_ clock: Clock) -> Int64 {
        let steady = try? SteadyTime(reading: Database(reading: databasePath), clock)
        return steady?.now ?? clock.now()
    }

    /// Acquires the fence and migrates the tables under the fence.
    private func migrate(
        _ database: Database, role: Role, now: Int64, over abandoned: FenceOwner? = nil, _ schema: Schema? = nil,
        checking check: () throws -> Void = {}
    ) throws -> (fence: Fence, previous: FenceOwner?) {
        let schema = schema ?? self.schema
        if try schema.state(of: database) == .empty {
            try database.transaction {
                try database.execute("PRAGMA application_id=\(schema.applicationID)")
                try database.execute(Fence.schema)
            }
        }
        let (fence, previous) = try Fence.take(
            in: database, lockPath: lockPath, role: role, now: now, over: abandoned)
        if try schema.state(of: database) == .older { willMigrate?() }
        try schema.migrate(database) {
            try fence.check(database)
            try check()
        }
        return (fence, previous)
    }

    /// A driver requires the features of all applications that have driven the directory before: without their hooks, stanzas
    /// would be handled past them.
    /// - Throws: `DirectoryError.unknownFeatures`; `StoreError`.
    private func checkFeatures(_ database: Database, _ schema: Schema) throws {
        let unknown = try schema.unknownApplications(in: database)
        guard unknown.isEmpty else { throw DirectoryError.unknownFeatures(directory: path, features: unknown) }
    }

    /// Creates the directory, or verifies that it is private to the user.
    private func create() throws {
        var missing: [String] = []
        var path = path
        while access(path, F_OK) != 0, !path.isEmpty {
            missing.append(path)
            guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { break }
            path = String(path[..<slash])
        }
        do {
            for path in missing.reversed() { try platform.protection.makeDirectory(path) }
        } catch { throw DirectoryError.cannotCreate(directory: error.path, reason: error.reason) }
        do { try platform.protection.checkDirectory(self.path) } catch {
            throw DirectoryError.exposed(directory: error.path, reason: error.reason)
        }
    }
}

/// Why a directory of accounts cannot be used.
public enum DirectoryError: Error, CustomStringConvertible, Sendable {
    /// The directory has no account yet.
    case noAccount(directory: String)
    /// All stored accounts are logged out.
    case allLoggedOut(directory: String)
    /// The directory cannot be created.
    case cannotCreate(directory: String, reason: String)
    /// Other users could replace the files of the directory.
    case exposed(directory: String, reason: String)
    /// The directory was driven with application features that this process lacks, or has in an older version. This process must
    /// not drive, because stanzas would be handled without these features. It may read, and accept messages for the driver.
    case unknownFeatures(directory: String, features: [String])
    /// Several accounts are stored and none was specified, or the specified account is not among them.
    case whichAccount(known: [String], asked: String?)

    public var description: String {
        switch self {
        case .noAccount(let directory): "no account is stored in \(directory); `kalij login JID` stores one"
        case .allLoggedOut(let directory):
            "all accounts in \(directory) are logged out; `kalij login JID` logs in again"
        case .cannotCreate(let directory, let reason): "creating \(directory): \(reason)"
        case .exposed(let directory, let reason): "\(directory): \(reason)"
        case .unknownFeatures(let directory, let features):
            "\(directory) belongs to an application whose part in each step is not known here "
                + "(\(features.joined(separator: ", "))): only that application, in its newest version, can go online with it; "
                + "nothing was changed"
        case .whichAccount(let known, let asked?):
            "\(asked) is not among the stored accounts: \(known.joined(separator: ", "))"
        case .whichAccount(let known, nil):
            "several accounts are stored (\(known.joined(separator: ", "))); say which with --account"
        }
    }
}
