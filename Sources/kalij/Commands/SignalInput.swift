import CLinux
import Glibc

/// Signals as input: blocked for this thread and the threads started later, and read from a descriptor.
final class SignalInput {
    /// Readable when a signal is pending.
    let descriptor: Int32

    init(_ numbers: [Int32]) throws {
        var set = sigset_t()
        sigemptyset(&set)
        for number in numbers { sigaddset(&set, number) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        descriptor = signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
        if descriptor < 0 { throw Failure(.temporaryFailure, "signalfd: \(String(cString: strerror(errno)))") }
    }

    deinit { close(descriptor) }

    /// The number of the next signal; nil if none is left.
    func next() -> Int32? {
        var signal = signalfd_siginfo()
        guard read(descriptor, &signal, MemoryLayout<signalfd_siginfo>.size) > 0 else { return nil }
        return Int32(exactly: signal.ssi_signo)
    }
}
