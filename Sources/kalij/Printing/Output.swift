import KalijText

import Glibc

/// Standard output for results, standard error for everything else. All output goes through this type.
enum Output {
    /// The descriptor of results.
    static let descriptor = STDOUT_FILENO

    // Only one thread of a command prints.
    /// Whether the last line was written only in part.
    private nonisolated(unsafe) static var isTorn = false

    /// Why results are missing from the output; nil if none are.
    private nonisolated(unsafe) static var loss: (any Error)?
    /// Whether repeating the command would do more than print again.
    private nonisolated(unsafe) static var hasAccepted = false

    /// Writes a line of results; ``conclude(_:)`` reports a failure.
    static func line(_ text: PrintedText) { attempt { try results(text + "\n") } }

    /// Writes results; ``conclude(_:)`` reports a failure. After a failure nothing more is written, because output without its
    /// middle would appear complete.
    static func attempt(_ body: () throws -> Void) {
        guard loss == nil else { return }
        do { try body() } catch { loss = error }
    }

    /// Records that this process has accepted something, or has changed something elsewhere: lost output is then no reason to
    /// repeat the command.
    static func accepted() { hasAccepted = true }

    /// Reports lost results.
    /// - Parameter status: the status of a command.
    /// - Returns: the status for this process.
    static func conclude(_ status: ExitStatus) -> ExitStatus {
        // The reader, such as `head`, has closed its end.
        guard let loss, !(loss is OutputClosed) else { return status }
        let reason = Failure(loss).message
        error(hasAccepted ? "done, but the output is lost: \(reason)" : "\(reason)")
        return hasAccepted || ![.done, .nothing].contains(status) ? status : .temporaryFailure
    }

    /// Prevents other descriptors from becoming a standard stream: a socket opened while standard output is closed would receive
    /// the results.
    static func keepStandardStreams() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free descriptor is the missing one. Use of the stream still fails.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Writes results; all bytes are written when this function returns.
    ///
    /// - Throws: `OutputClosed` if the reader has closed its end, `Failure` if writing fails for another reason.
    static func results(_ text: PrintedText) throws {
        guard !write(text.description, to: STDOUT_FILENO) else { return }
        let error = errno
        if error == EPIPE { throw OutputClosed() }
        throw Failure(.temporaryFailure, "standard output: \(String(cString: strerror(error)))")
    }

    /// Waits until the reader of standard output has read all of the output, if the system can determine that: for a pipe or a
    /// socket.
    /// - Throws: `OutputClosed` if the reader has closed its end, `Failure` if bytes remain unread after `seconds`.
    static func awaitReader(within seconds: Double) throws {
        guard let question = unreadQuestion else { return }
        let deadline = now() + seconds
        var pause: UInt32 = 20
        while true {
            var unread: Int32 = 0
            guard ioctl(STDOUT_FILENO, question, &unread) == 0, unread > 0 else { return }
            var request = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
            // No event is requested, so only the reader's end is reported.
            if poll(&request, 1, 0) > 0 { throw OutputClosed() }
            guard now() < deadline else { throw Failure(.temporaryFailure, "standard output: nobody reads it") }
            usleep(pause)
            pause = min(2 * pause, 10_000)
        }
    }

    /// The ioctl that returns the number of unread bytes; nil if the file type has none.
    private static var unreadQuestion: UInt? {
        var status = stat()
        guard fstat(STDOUT_FILENO, &status) == 0 else { return nil }
        return switch status.st_mode & S_IFMT {
        case S_IFIFO: UInt(FIONREAD)
        case S_IFSOCK: UInt(TIOCOUTQ)
        default: nil
        }
    }

    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    static func error(_ text: PrintedText) { notice("kalij: \(text)") }
    /// A hint for people only; programs use the exit status.
    static func hint(_ text: PrintedText) { if isatty(STDERR_FILENO) == 1 { notice(text) } }
    /// Replaces the line of a terminal; "" clears it.
    static func progress(_ text: PrintedText) {
        if isatty(STDERR_FILENO) == 1 { write("\r\u{1B}[K\(text)", to: STDERR_FILENO) }
    }
    static func notice(_ text: PrintedText) { write(text.description + "\n", to: STDERR_FILENO) }

    @discardableResult
    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        var text = descriptor == STDOUT_FILENO && isTorn ? "\n" + text : text
        return text.withUTF8 { write(UnsafeRawBufferPointer($0), to: descriptor) }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        defer { if descriptor == STDOUT_FILENO, rest.count < bytes.count { isTorn = !rest.isEmpty } }
        let waits = descriptor == STDOUT_FILENO && isPipe
        while !rest.isEmpty {
            // A process that waits for a reader can be stopped in the meantime: a ready pipe accepts a chunk of this size at
            // once.
            if waits, !awaitRoom() { return false }
            let piece = waits ? rest.prefix(Int(PIPE_BUF)) : rest
            // The slice lies within the buffer, so its address is valid for its count.
            let count = unistdWrite(descriptor, UnsafeRawBufferPointer(rebasing: piece))
            if count < 0 {
                if errno == EINTR { continue }
                guard errno == EAGAIN, wait(for: descriptor) else { return false }
                continue
            }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static let isPipe: Bool = {
        var status = stat()
        return fstat(STDOUT_FILENO, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    }()

    /// Waits until standard output is writable; false if a pending signal requests the end of this process.
    private static func awaitRoom() -> Bool {
        var request = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
        while poll(&request, 1, 200) <= 0 {
            var pending = sigset_t()
            sigpending(&pending)
            guard sigismember(&pending, SIGTERM) == 0, sigismember(&pending, SIGINT) == 0 else {
                errno = ECANCELED
                return false
            }
        }
        return true
    }

    /// Waits until a non-blocking pipe is writable.
    private static func wait(for descriptor: Int32) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&request, 1, -1) > 0 || errno == EINTR
    }

    private static func unistdWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    }
}

/// The reader of standard output has closed its end.
struct OutputClosed: Error {}
