import Glibc

/// What SIGTERM and the others do while a process holds nothing that it would have to let go.
enum Interruption {
    /// From now on they have their usual effect, but for the exit status, until an engine's loop watches them.
    ///
    /// Signals that a loop has watched stay blocked when its engine is over; whoever waits then for another process to let go
    /// would not be ended by them.
    /// - Parameter isWaiting: somebody waits for what this process was to tell, and is told to try again.
    static func endsAtOnce(isWaiting: Bool = false) {
        var set = sigset_t()
        sigemptyset(&set)
        for number in [SIGTERM, SIGINT] {
            sigaddset(&set, number)
            if isWaiting {
                signal(number) { _ in _exit(ExitStatus.tryAgain.rawValue) }
            } else {
                signal(number) { _ in _exit(ExitStatus.done.rawValue) }
            }
        }
        for number in [SIGTSTP, SIGCONT] { sigaddset(&set, number) }
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }
}

/// What a process says when its time is over, from a signal's handler: nothing is allocated there.
enum LastWords {
    // Set before the handler is, never changed or freed afterwards.
    private nonisolated(unsafe) static var bytes: UnsafePointer<CChar>?
    private nonisolated(unsafe) static var count = 0

    static func prepare(_ line: String) {
        let copy = strdup(line + "\n")
        bytes = UnsafePointer(copy)
        count = copy.map { strlen($0) } ?? 0
    }

    static func say() {
        // A pipe that nobody reads must not keep it.
        var request = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
        if let bytes, poll(&request, 1, 0) > 0 { _ = write(STDOUT_FILENO, bytes, count) }
    }
}
