import Glibc
import KalijText

/// Standard error, for the lines of a running server.
///
/// The log need not be read: a line is dropped if it cannot be written at once, because a server that waits for a reader would no
/// longer respond. The next line that is written reports how many are missing.
struct LogOutput {
    /// The maximum length of a line: a writable pipe accepts this many bytes (PIPE_BUF).
    private static let maxLength = 4_096
    private var missing = 0

    /// Prevents other descriptors from becoming a standard stream: a socket or the database's lock file, opened while standard
    /// error is closed, would receive the lines.
    static func keepStandardStreams() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free descriptor is the missing one. Results for a closed standard output are lost, which is an error.
            _ = open("/dev/null", descriptor == STDOUT_FILENO ? O_RDONLY : O_RDWR)
        }
    }

    mutating func write(_ line: PrintedText) {
        guard hasRoom else {
            missing += 1
            return
        }
        if missing > 0 {
            put("<4>\(missing) lines are missing here: nobody has read the log")
            missing = 0
            guard hasRoom else {
                missing = 1
                return
            }
        }
        put(line.description)
    }

    private var hasRoom: Bool {
        var entry = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        return poll(&entry, 1, 0) == 1 && entry.revents & Int16(POLLOUT) != 0
    }

    private func put(_ line: String) {
        let bytes = Array(line.utf8.prefix(Self.maxLength - 1)) + [UInt8(ascii: "\n")]
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }
}
