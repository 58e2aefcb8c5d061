import Foundation

/// What a phone's system tells an application; on Linux signals stand for it.
enum SystemCallback {
    /// SIGTSTP: in a moment no instruction is executed any more.
    case willFreeze
    /// SIGCONT: it goes on, also after a freeze that nobody has announced.
    case didThaw
    /// SIGTERM.
    case terminate

    private static var signals: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in [SIGTSTP, SIGCONT, SIGTERM] { sigaddset(&set, signal) }
        return set
    }

    /// Keeps the signals from doing what they do by themselves, in this thread and those that it starts.
    static func block() {
        var set = signals
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Waits for them, for ever.
    static func wait(_ tell: (SystemCallback) -> Void) {
        var (set, number) = (signals, Int32(0))
        while sigwait(&set, &number) == 0 {
            tell(number == SIGTSTP ? .willFreeze : number == SIGCONT ? .didThaw : .terminate)
        }
    }
}
