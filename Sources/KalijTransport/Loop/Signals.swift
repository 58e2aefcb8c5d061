import CLinux
import Glibc

extension EventLoop {
    /// Calls `handler` on the loop's thread for each of the signals, instead of the signal's usual action.
    ///
    /// Blocks the signals in the calling thread: call this function before other threads start, because threads inherit
    /// the mask. Child processes inherit the mask, too; give each an empty mask. The signals stay watched as long as
    /// the loop lives.
    ///
    /// - Returns: the watch. After its end the signals stay blocked.
    /// - Throws: ``SystemError`` if a number is no signal or the process has no descriptors left.
    @discardableResult
    public func watchSignals(_ signals: [Int32], _ handler: @escaping (Int32) -> Void) throws(SystemError) -> Watch {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals where sigaddset(&set, signal) != 0 { throw SystemError("sigaddset") }
        let descriptor = signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
        if descriptor < 0 { throw SystemError("signalfd") }
        let source = OwnedDescriptor(descriptor)
        let status = pthread_sigmask(SIG_BLOCK, &set, nil)
        if status != 0 { throw SystemError("pthread_sigmask", code: status) }
        return try watch(descriptor, .read) { _ in
            var info = signalfd_siginfo()
            // The kernel writes whole records of this size.
            while withUnsafeMutableBytes(of: &info, { read(source.number, $0.baseAddress, $0.count) })
                == MemoryLayout<signalfd_siginfo>.size
            {
                handler(Int32(bitPattern: info.ssi_signo))
            }
        }
    }
}

/// A descriptor, closed with the last reference.
final class OwnedDescriptor {
    let number: Int32

    init(_ number: Int32) { self.number = number }

    deinit { Glibc.close(number) }
}
