#if canImport(Glibc)
    import CLinux
    import Glibc
#else
    import Darwin
#endif

/// A process that is frozen within a transaction, or while it closes the database, and keeps SQLite's lock: nobody can commit
/// until it goes on.
///
/// It is killed. Dying at any point is harmless by design, waiting for it is not. That holds for the processes that share the
/// directory: so only a process of our own user is, which has this very file open and locked. Where no process may kill another,
/// nothing is ever found here, and `prepareForFreeze` has to see to it that none is frozen within a transaction.
public enum FrozenWriter {
    /// Kills the process that holds the write lock of the database at `path`, if it is a process of our user.
    /// - Parameters:
    ///   - path: the database's file.
    ///   - ifStopped: only if a signal has stopped it; else also one that is slow, or stuck in a system call.
    /// - Returns: the process that was killed; nil if no process holds the lock, or it may not be killed.
    public static func kill(database path: String, ifStopped: Bool = false) -> Int32? {
        #if canImport(Glibc)
            for _ in 0..<attempts {
                for candidate in candidates(path) where candidate.pid != getpid() {
                    if kill(candidate, ifStopped: ifStopped) { return candidate.pid }
                }
            }
        #endif
        return nil
    }

    #if canImport(Glibc)
        /// Where SQLite's lock on the right to write is in the -shm file: WAL_WRITE_LOCK behind UNIX_SHM_BASE (os_unix.c).
        private static let writeLock: Int64 = 120
        /// UNIX_SHM_DMS: who holds it for writing is the first to open the database, and empties the -shm file.
        private static let firstOpening: Int64 = 128
        /// Where its locks on the database itself begin (PENDING_BYTE): who holds them for writing keeps everybody out. The last
        /// one that closes a database does, while it moves the write-ahead log into it.
        private static let databaseLocks: Int64 = 0x4000_0000
        /// The list of locks comes in pages, and while others lock and unlock between two of them a line can be left out (1 of 80
        /// in 12 KB of them): so it is read some times before nobody is said to be there.
        private static let attempts = 5

        /// A process that may keep others from writing.
        private struct Candidate {
            let pid: Int32
            /// What it may have locked.
            let file: FileIdentity
            /// Which bytes of it are in the way.
            let isInWay: (Int64) -> Bool
        }

        /// Kills `candidate` if it is in the way.
        private static func kill(_ candidate: Candidate, ifStopped: Bool) -> Bool {
            // First: the descriptor is of the process that is looked at, or of one that has ended, and then nobody is killed.
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

        /// The process that keeps others from writing; nil if there is none of our user.
        static func holder(of path: String) -> Int32? {
            for _ in 0..<attempts {
                if let candidate = candidates(path).first(where: { isOurs($0.pid) && isInWay($0) }) {
                    return candidate.pid
                }
            }
            return nil
        }

        /// Whoever has locked a file with the database's inode number, from proc_locks(5): asking the file itself would need a
        /// descriptor of it, and closing that would free the locks of our own connections. The device there need not be the one
        /// that stat(2) tells (btrfs, overlayfs), so that the file is confirmed by ``isInWay(_:)``.
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

        /// A line of a list of locks: that of a process on bytes of a file, for writing.
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

        /// Whether the process is of our user: whatever another one's is doing with the file, it is not one that may die at any
        /// point.
        private static func isOurs(_ pid: Int32) -> Bool {
            var status = stat()
            return stat("/proc/\(pid)", &status) == 0 && status.st_uid == geteuid()
        }

        /// Whether the process has that very file open, by device and inode, and has locked it with that descriptor
        /// (proc_pid_fdinfo(5)).
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
                // The name is within the entry, which readdir keeps until the next call, and ends with a zero.
                let name = withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: $0.pointee)) {
                        String(cString: $0)
                    }
                }
                if !name.hasPrefix(".") { names.append(name) }
            }
            return names
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
