#if canImport(Glibc)
    import CLinux
    import Glibc
#else
    import Darwin
#endif

/// A process that is frozen within a transaction, or while it closes the database, and keeps SQLite's lock: nobody can commit
/// until it goes on.
///
/// It is killed. Dying at any point is harmless by design, waiting for it is not. Where no process may kill another,
/// nothing is ever found here, and `prepareForFreeze` has to see to it that none is frozen within a transaction.
public enum FrozenWriter {
    /// Kills the process that holds the write lock of the database at `path`.
    /// - Parameters:
    ///   - path: the database's file.
    ///   - ifStopped: only if a signal has stopped it; else also one that is slow, or stuck in a system call.
    /// - Returns: the process that was killed; nil if no process holds the lock, or it may not be killed.
    public static func kill(database path: String, ifStopped: Bool = false) -> Int32? {
        #if canImport(Glibc)
            guard let pid = holder(of: path), pid != getpid(), !ifStopped || isStopped(pid) else { return nil }
            let descriptor = pidfd_open(pid, 0)
            guard descriptor >= 0 else { return nil }
            defer { close(descriptor) }
            // It holds the lock still: so the descriptor is of that process, not of another that got its number.
            guard holder(of: path) == pid, pidfd_send_signal(descriptor, SIGKILL, nil, 0) == 0 else { return nil }
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            _ = poll(&request, 1, 1000)
            return pid
        #else
            return nil
        #endif
    }

    #if canImport(Glibc)
        /// Where SQLite's lock on the right to write is in the -shm file: WAL_WRITE_LOCK behind UNIX_SHM_BASE (os_unix.c).
        private static let writeLock: Int64 = 120
        /// UNIX_SHM_DMS: who holds it for writing is the first to open the database, and empties the -shm file.
        private static let firstOpening: Int64 = 128
        /// Where its locks on the database itself begin (PENDING_BYTE): who holds them for writing keeps everybody out. The last
        /// one that closes a database does, while it moves the write-ahead log into it.
        private static let databaseLocks: Int64 = 0x4000_0000

        /// The process that keeps others from writing, from proc_locks(5): asking the file itself would need a descriptor of
        /// it, and closing that would free the locks of our own connections.
        ///
        /// The list comes in pages, and while others lock and unlock between two of them a line can be left out (1 of 80 in
        /// 12 KB of them): so it is read some times before nobody is said to be there.
        static func holder(of path: String) -> Int32? {
            for _ in 0..<5 {
                if let pid = listedHolder(of: path) { return pid }
            }
            return nil
        }

        private static func listedHolder(of path: String) -> Int32? {
            let (database, index) = (inode(path), inode(path + "-shm"))
            for line in readAll("/proc/locks").split(separator: "\n") {
                // 5: POSIX  ADVISORY  WRITE 1234 08:01:5678 120 120
                let words = line.split(separator: " ")
                guard words.count == 8, words[1] == "POSIX", words[3] == "WRITE", let start = Int64(words[6]),
                    let inode = words[5].split(separator: ":").last
                else { continue }
                let isInWay = inode == index ? [writeLock, firstOpening].contains(start) : start >= databaseLocks
                if inode == index || inode == database, isInWay {
                    return pid_t(words[4])
                }
            }
            return nil
        }

        private static func inode(_ path: String) -> Substring? {
            var status = stat()
            return stat(path, &status) == 0 ? "\(status.st_ino)" : nil
        }

        /// From proc_pid_stat(5): the state stands behind the name, which is in parentheses and may hold some.
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
    #endif
}
