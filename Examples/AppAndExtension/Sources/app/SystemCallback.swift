import Foundation

/// The system's callbacks on a phone; on Linux signals stand for them.
enum SystemCallback {
    /// SIGTSTP: in a moment no instruction is executed any more.
    case willFreeze
    /// SIGCONT: the process goes on, also after a freeze without notice.
    case didThaw
    /// SIGTERM.
    case terminate

    private static var signals: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in [SIGTSTP, SIGCONT, SIGTERM] { sigaddset(&set, signal) }
        return set
    }

    /// Keeps the signals from their usual effect, in this thread and its child threads.
    static func block() {
        var set = signals
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Waits for the signals, for ever.
    static func wait(_ tell: (SystemCallback) -> Void) {
        var (set, number) = (signals, Int32(0))
        while sigwait(&set, &number) == 0 {
            tell(number == SIGTSTP ? .willFreeze : number == SIGCONT ? .didThaw : .terminate)
        }
    }
}
