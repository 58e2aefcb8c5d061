import KalijStore

import Glibc

/// A damaged mailbox, set aside and replaced by a new mailbox.
public struct MailboxDamage: Sendable, Equatable {
    /// The damage.
    public let reason: String
    /// The new path of the damaged mailbox.
    public let path: String
    /// How many of its parcels are in the new mailbox.
    public let recovered: Int
    /// How many parcels could not be read; nil if unknown.
    public let lost: Int?
}

extension StoreError {
    /// Whether the mailbox in `directory` is damaged, if opening or reading the mailbox gives this error. Other processes, a full disk and
    /// a failing disk give other errors.
    public func isDamage(ofMailboxIn directory: String) -> Bool {
        if code == .corrupt || code == .notOurs { return true }
        guard code == .cannotOpen else { return false }
        let path = Mailbox.databasePath(in: directory)
        var status = stat()
        // Only the file itself counts: the directory must be there, and usable.
        guard access(directory, R_OK | W_OK | X_OK) == 0, lstat(path, &status) == 0 else { return false }
        return status.st_mode & S_IFMT != S_IFREG || access(path, R_OK | W_OK) != 0
    }
}

extension Mailbox {
    /// The byte locked while the mailbox is opened, and while the mailbox is set aside: numbers of the fence begin with
    /// 1.
    private static let lockedByte: Int64 = 0

    /// Runs `body` to open the mailbox, while nobody sets the mailbox aside.
    static func whileInPlace<Result>(_ directory: String, _ body: () throws -> Result) throws -> Result {
        guard let lock = try? LockFile(path: lockPath(in: directory)) else { return try body() }
        _ = lockPlace(lock, shared: true)
        // The lock is freed with the object, and optimized code may free the object before `body` runs.
        return try withExtendedLifetime(lock) { try body() }
    }

    /// Waits for the lock for a second: other processes hold it for milliseconds.
    private static func lockPlace(_ lock: LockFile, shared: Bool) -> Bool {
        for _ in 0..<200 {
            if lock.lock(byte: lockedByte, shared: shared) { return true }
            // A wait in the kernel would have no end if the holder is frozen.
            usleep(5000)
        }
        return false
    }

    private static func lockPath(in directory: String) -> String { directory + "/driver.lock" }

    /// Called by a process without the fence that has found the mailbox damaged. The holder of the fence checks the
    /// mailbox at its next signal: the holder need not have noticed the damage, because its connection has the first
    /// page in memory.
    public static func report(damageIn directory: String) {
        let file = creat(reportPath(in: directory), 0o600)
        if file >= 0 { close(file) }
    }

    /// Whether damage was reported since the last call.
    public static func takeReport(in directory: String) -> Bool { unlink(reportPath(in: directory)) == 0 }

    private static func reportPath(in directory: String) -> String { directory + "/mailbox.damaged" }

    /// Sets the mailbox of `directory` aside as `mailbox.db.damaged-TIME`, if damaged, and makes a new mailbox with the readable
    /// parcels. Letters are not kept: their receivers obtain the facts in other ways.
    ///
    /// Only for the holder of the directory's fence. A process with the damaged mailbox open may continue to write there, and
    /// checks afterwards (``MailboxQueue/isInPlace``).
    /// - Parameters:
    ///   - place: how far the parcels were taken over.
    ///   - now: milliseconds since 1970, for the name.
    ///   - directory: the path.
    /// - Returns: the result; nil if the mailbox is in order.
    /// - Throws: `StoreError`: `.busy` if processes are opening the mailbox all the time.
    public static func setAsideIfDamaged(
        _ directory: String, taken place: MailboxQueue.Progress?, now: Int64
    ) throws -> MailboxDamage? {
        let lock = try LockFile(path: lockPath(in: directory))
        guard lockPlace(lock, shared: false) else {
            throw StoreError(.busy, "the mailbox is being opened by another process")
        }
        defer { lock.unlock(byte: lockedByte) }
        guard let reason = try damage(directory) else { return nil }
        let path = databasePath(in: directory)
        let aside = unused(path + ".damaged-\(now / 1000)")
        guard rename(path, aside) == 0 else {
            throw StoreError(.cannotOpen, "\(path) is damaged (\(reason)), and cannot be set aside: \(Self.lastError)")
        }
        for end in ["-wal", "-shm"] where access(path + end, F_OK) == 0 { rename(path + end, aside + end) }
        let (parcels, lost) = Salvage(aside).parcels(taken: place)
        let made = try openLocked(directory, .machine)
        try made.transaction {
            for parcel in parcels { try MailboxQueue(made).insert(parcel) }
        }
        return MailboxDamage(reason: reason, path: aside, recovered: parcels.count, lost: lost)
    }

    /// The damage; nil if the mailbox is in order.
    private static func damage(_ directory: String) throws -> String? {
        do {
            let database = try openLocked(directory, .process)
            let words = try database.prepare("PRAGMA quick_check(1)").first { $0.text() } ?? "ok"
            return words == "ok" ? nil : words
        } catch let error as StoreError where error.isDamage(ofMailboxIn: directory) {
            return error.message
        }
    }

    private static func unused(_ path: String) -> String {
        for number in 0..<1000 {
            let name = number == 0 ? path : "\(path)-\(number)"
            if access(name, F_OK) != 0 { return name }
        }
        return path
    }

    private static var lastError: String { String(cString: strerror(errno)) }
}

/// Reads the readable parts of a damaged mailbox that was set aside.
struct Salvage {
    private let path: String

    init(_ path: String) { self.path = path }

    /// The parcels not yet taken over.
    /// - Returns: the readable parcels, and the number of the others; nil if unknown.
    func parcels(taken place: MailboxQueue.Progress?) -> (readable: [QueuedItem], lost: Int?) {
        for attempt in [path, withFreshHeader()].compactMap({ $0 }) {
            defer { if attempt != path { remove(attempt) } }
            guard let database = try? Database(reading: attempt),
                let last = try? Self.last(in: database)
            else { continue }
            let store = MailboxQueue(database)
            let taken = (try? store.last(place)) ?? 0
            let found = readAll(store, after: taken)
            // Numbers are never given twice, and only parcels already taken over are removed: every missing number is a
            // parcel that could not be read.
            let first = max(taken, (try? store.firstRemaining()) ?? taken)
            return (found, max(0, Int(clamping: last &- first) - found.count))
        }
        return ([], nil)
    }

    /// The last number given to a parcel.
    private static func last(in database: Database) throws -> Int64 {
        try database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'parcel'").first([]) { $0.integer() } ?? 0
    }

    /// From both ends: the unreadable part is in between.
    private func readAll(_ store: MailboxQueue, after taken: Int64) -> [QueuedItem] {
        var found: [Int64: QueuedItem] = [:]
        for isForward in [true, false] {
            store.each(after: taken, forward: isForward) { found[$0.id] = $0 }
        }
        return found.values.sorted { $0.id < $1.id }
    }

    /// A copy with the first page of a new mailbox: that page describes the other pages, and is the same in all
    /// mailboxes of a version.
    private func withFreshHeader() -> String? {
        let (copy, model) = (path + "-copy", path + "-model")
        defer { remove(model) }
        guard (try? Mailbox.make(at: model)) != nil, let page = Self.bytes(model, limit: 4096)?.prefix(4096),
            page.count == 4096,
            var bytes = Self.bytes(path, limit: 64 << 20), bytes.count > 4096
        else { return nil }
        bytes.replaceSubrange(0..<4096, with: page)
        // If these two numbers differ, SQLite uses the size of the file, not the size in the header.
        bytes[27] = bytes[95] &+ 1
        guard Self.write(bytes, to: copy) else { return nil }
        if let log = Self.bytes(path + "-wal", limit: 64 << 20), !log.isEmpty { _ = Self.write(log, to: copy + "-wal") }
        return copy
    }

    private func remove(_ path: String) { for end in ["", "-wal", "-shm"] { unlink(path + end) } }

    private static func bytes(_ path: String, limit: Int) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65536)
        while bytes.count < limit {
            let count = read(file, &piece, piece.count)
            guard count > 0 else { return count == 0 ? bytes : nil }
            bytes.append(contentsOf: piece[..<count])
        }
        return bytes
    }

    private static func write(_ bytes: [UInt8], to path: String) -> Bool {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        defer { close(file) }
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress.map { $0 + done }, $0.count - done) }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }
}
