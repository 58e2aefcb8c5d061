import Glibc

/// The disposition of SIGTERM and other signals while a process has nothing to release.
enum SignalDisposition {
    /// From now on the signals have their default effect, except for the exit status, until an engine's loop watches them.
    ///
    /// Signals watched by a loop remain blocked after the end of its engine; without this call they would not terminate a process
    /// that waits afterwards for another process to release the fence.
    /// - Parameter isWaiting: whether a user waits for the result, so that the exit status suggests a retry.
    static func endsAtOnce(isWaiting: Bool = false) {
        var set = sigset_t()
        sigemptyset(&set)
        for number in [SIGTERM, SIGINT] {
            sigaddset(&set, number)
            if isWaiting {
                signal(number) { _ in _exit(ExitStatus.temporaryFailure.rawValue) }
            } else {
                signal(number) { _ in _exit(ExitStatus.done.rawValue) }
            }
        }
        for number in [SIGTSTP, SIGCONT] { sigaddset(&set, number) }
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }
}

/// The final output of a process whose time has expired, written by a signal handler, which allocates nothing.
enum ExitMessage {
    // Set before the handler is installed; never changed or freed afterwards.
    private nonisolated(unsafe) static var bytes: UnsafePointer<CChar>?
    private nonisolated(unsafe) static var count = 0

    static func prepare(_ line: String) {
        let copy = strdup(line + "\n")
        bytes = UnsafePointer(copy)
        count = copy.map { strlen($0) } ?? 0
    }

    static func emit() {
        // A pipe without a reader must not delay the termination.
        var request = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
        if let bytes, poll(&request, 1, 0) > 0 { _ = write(STDOUT_FILENO, bytes, count) }
    }
}
