import Foundation

/// What a phone's system tells an application; on Linux signals stand for it.
enum SystemCallback {
    /// SIGTSTP: in a moment no instruction is executed any more.
    case willFreeze
    /// SIGCONT: it goes on, also after a freeze that nobody has announced.
    case didThaw
    /// SIGTERM.
    case terminate

    /// All that come from now on. To be called before there are other threads.
    static func all() -> AsyncStream<SystemCallback> {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in [SIGTSTP, SIGCONT, SIGTERM] { sigaddset(&set, signal) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        return AsyncStream { [set] continuation in
            Thread.detachNewThread {
                var (set, number) = (set, Int32(0))
                while sigwait(&set, &number) == 0 {
                    continuation.yield(number == SIGTSTP ? .willFreeze : number == SIGCONT ? .didThaw : .terminate)
                }
            }
        }
    }
}
