import CLinux
import Glibc

/// A process frozen within a transaction, or while closing the database, that holds SQLite's lock: nobody can commit until the
/// process continues.
///
/// Such a process is killed: dying at any point is harmless by design, waiting is not. That holds only for the processes of the
/// directory: so only a process of the same user is killed, with this very file open and locked. On systems where no process may
/// kill another, nothing is ever found here, and `prepareForFreeze` has to make sure that no process is frozen within a
/// transaction.
public enum FrozenWriter {
    /// Kills the process with the write lock of the database at `path`, if the process belongs to the same user.
    /// - Parameters:
    ///   - path: the database's file.
    ///   - ifStopped: only if a signal has stopped the process; else also a slow process, or a process stuck in a
    ///     system call.
    /// - Returns: the killed process; nil if no process holds the lock, or the holder may not be killed.
    public static func kill(database path: String, ifStopped: Bool = false) -> Int32? {
        for _ in 0..<attempts {
            for candidate in candidates(path) where candidate.pid != getpid() {
                if kill(candidate, ifStopped: ifStopped) { return candidate.pid }
            }
        }
        return nil
    }

    /// The place of SQLite's write lock in the -shm file: WAL_WRITE_LOCK, counted from UNIX_SHM_BASE (os_unix.c).
    private static let writeLock: Int64 = 120
    /// UNIX_SHM_DMS: the holder of this lock for writing is the first to open the database, and empties the -shm
    /// file.
    private static let firstOpening: Int64 = 128
    /// The beginning of SQLite's locks on the database itself (PENDING_BYTE): a holder for writing keeps everybody
    /// out. The last process to close a database takes these locks while moving the write-ahead log into the
    /// database.
    private static let databaseLocks: Int64 = 0x4000_0000
    /// The list of locks is read in pages. A line can be left out while others lock and unlock between two pages (1 of 80 in a
    /// list of 12 KB): so the list is read several times before the answer is "nobody".
    private static let attempts = 5

    /// A process that may keep others from writing.
    private struct Candidate {
        let pid: Int32
        /// The file that may be locked.
        let file: FileIdentity
        /// Which locked bytes block writers.
        let isInWay: (Int64) -> Bool
    }

    /// Kills `candidate` if its lock blocks writers.
    private static func kill(_ candidate: Candidate, ifStopped: Bool) -> Bool {
        // Before the checks: so the descriptor belongs to the checked process, or to a process that has ended, and
        // then nobody is killed.
        let descriptor = pidfd_open(candidate.pid, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        guard isOurs(candidate.pid), isInWay(candidate), !ifStopped || isStopped(candidate.pid),
            pidfd_send_signal(descriptor, SIGKILL, nil, 0) == 0
        else { return false }
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&request, 1, 1000)
        return true
    }

    /// The process that blocks other writers; nil if no process of the same user does.
    static func holder(of path: String) -> Int32? {
        for _ in 0..<attempts {
            if let candidate = candidates(path).first(where: { isOurs($0.pid) && isInWay($0) }) {
                return candidate.pid
            }
        }
        return nil
    }

    /// The processes with a lock on a file with the database's inode number, from proc_locks(5): querying the file itself would
    /// need a descriptor, and closing the descriptor would release the locks of this process's connections. The device in the
    /// list may differ from stat(2)'s (btrfs, overlayfs), so ``isInWay(_:)`` confirms the file.
    private static func candidates(_ path: String) -> [Candidate] {
        let isLocking: (Int64) -> Bool = { $0 == writeLock || $0 == firstOpening }
        let places: [(file: FileIdentity?, isInWay: (Int64) -> Bool)] = [
            (FileIdentity(path + "-shm"), isLocking), (FileIdentity(path), { $0 >= databaseLocks }),
        ]
        return readAll("/proc/locks").split(separator: "\n").flatMap { line -> [Candidate] in
            guard let lock = Lock(line) else { return [] }
            return places.compactMap { place in
                guard let file = place.file, lock.inode == file.inode, place.isInWay(lock.start) else { return nil }
                return Candidate(pid: lock.pid, file: file, isInWay: place.isInWay)
            }
        }
    }

    /// A line of a list of locks: a process's lock on bytes of a file, for writing.
    private struct Lock {
        let pid: Int32
        let inode: ino_t
        let start: Int64

        /// Reads `5: POSIX  ADVISORY  WRITE 1234 08:01:5678 120 120`; nil for a lock of another kind.
        init?(_ line: Substring) {
            let words = line.split(separator: " ")
            guard words.count == 8, words[1] == "POSIX", words[3] == "WRITE", let pid = Int32(words[4]),
                let inode = words[5].split(separator: ":").last.flatMap({ ino_t($0) }),
                let start = Int64(words[6])
            else { return nil }
            (self.pid, self.inode, self.start) = (pid, inode, start)
        }
    }

    /// Whether the process belongs to the same user. Another user's process is not designed to die at any point.
    private static func isOurs(_ pid: Int32) -> Bool {
        var status = stat()
        return stat("/proc/\(pid)", &status) == 0 && status.st_uid == geteuid()
    }

    /// Whether the process has that very file open, by device and inode, and has locked the file with that
    /// descriptor (proc_pid_fdinfo(5)).
    private static func isInWay(_ candidate: Candidate) -> Bool {
        names(in: "/proc/\(candidate.pid)/fd").contains { name in
            guard FileIdentity("/proc/\(candidate.pid)/fd/\(name)") == candidate.file else { return false }
            return readAll("/proc/\(candidate.pid)/fdinfo/\(name)").split(separator: "\n").contains { line in
                guard line.hasPrefix("lock:") else { return false }
                return Lock(line.dropFirst("lock:\t".count)).map { candidate.isInWay($0.start) } ?? false
            }
        }
    }

    private static func names(in path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            // The name is within the entry and ends with a zero; readdir keeps the entry until the next call.
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: $0.pointee)) {
                    String(cString: $0)
                }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    /// From proc_pid_stat(5): the state follows the name; the name is in parentheses and may hold parentheses.
    private static func isStopped(_ pid: Int32) -> Bool {
        let status = readAll("/proc/\(pid)/stat")
        guard let end = status.lastIndex(of: ")") else { return false }
        return ["T", "t"].contains(status[status.index(after: end)...].split(separator: " ").first ?? "")
    }

    private static func readAll(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &piece, piece.count)
            guard count > 0 else { break }
            bytes.append(contentsOf: piece[..<count])
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
