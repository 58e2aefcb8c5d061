import Glibc
import KalijText

/// Standard error, for the lines of a running server.
///
/// Nobody has to read the log: a line that finds no room is left out, for a server that waits for a reader answers
/// nobody any more. The next line with room says how many are missing.
struct LogOutput {
    /// A pipe that is ready has room for so many bytes (PIPE_BUF).
    private static let longest = 4_096
    private var missing = 0

    /// Lets nothing else become a standard stream: a socket or the database's lock, opened while standard error is
    /// closed, would get the lines.
    static func keepStandardStreams() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free number is the missing one. Results for a closed standard output are lost, and that is an error.
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
        let bytes = Array(line.utf8.prefix(Self.longest - 1)) + [UInt8(ascii: "\n")]
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }
}
