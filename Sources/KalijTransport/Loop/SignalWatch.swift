import Glibc
import Synchronization

/// Delivers signals to the process to a loop, whichever thread the system chooses for them, until ``end()``.
///
/// The loop's thread has the signals blocked and reads them; all other threads forward them to the loop's thread. With several
/// watches over a signal in a process, the newest gets what other threads forward.
public final class SignalWatch {
    /// A signal's watches, oldest first, and its action from before the first.
    private struct Watched {
        var threads: [pthread_t]
        let before: sigaction
    }

    private static let watched = Mutex<[Int32: Watched]>([:])
    /// For each signal the thread of the newest watch; 0: none. Atomics, because a handler may run at any instruction.
    // Made once, never freed, and changed through the atomics alone.
    private nonisolated(unsafe) static let threads = {
        let count = 65
        let threads = UnsafeMutablePointer<Atomic<pthread_t>>.allocate(capacity: count)
        for place in 0..<count { (threads + place).initialize(to: Atomic(0)) }
        return threads
    }()

    private let watch: Watch
    private let signals: [Int32]
    private let thread = pthread_self()
    /// The signals that were blocked before.
    private var mask = sigset_t()
    private var hasEnded = false

    /// - Parameters:
    ///   - loop: the loop of the calling thread.
    ///   - signals: the numbers; a signal that the process ignores stays ignored.
    ///   - handler: gets the number of each signal, on the loop's thread.
    /// - Throws: ``SystemError`` if a number is no signal or the process has no descriptors left.
    public init(_ loop: EventLoop, _ signals: [Int32], _ handler: @escaping (Int32) -> Void) throws(SystemError) {
        self.signals = signals.filter { !Self.isIgnored($0) }
        pthread_sigmask(SIG_BLOCK, nil, &mask)
        watch = try loop.watchSignals(self.signals, handler)
        Self.watched.withLock { watched in
            for number in self.signals {
                Self.threads[Int(number)].store(thread, ordering: .sequentiallyConsistent)
                if watched[number] == nil {
                    watched[number] = Watched(threads: [], before: Self.action(of: number))
                    Self.handOn(number)
                }
                watched[number]?.threads.append(thread)
            }
        }
    }

    deinit { end() }

    /// The signals have their earlier effect again. Call this on the loop's thread.
    public func end() {
        guard !hasEnded else { return }
        hasEnded = true
        watch.cancel()
        Self.watched.withLock { watched in
            for number in signals {
                guard let place = watched[number]?.threads.lastIndex(of: thread) else { continue }
                watched[number]?.threads.remove(at: place)
                Self.threads[Int(number)].store(watched[number]?.threads.last ?? 0, ordering: .sequentiallyConsistent)
                if watched[number]?.threads.isEmpty ?? false, var before = watched.removeValue(forKey: number)?.before {
                    sigaction(number, &before, nil)
                }
            }
        }
        pthread_sigmask(SIG_SETMASK, &mask, nil)
    }

    private static func handOn(_ number: Int32) {
        signal(number) { number in
            let thread = SignalWatch.threads[Int(number)].load(ordering: .sequentiallyConsistent)
            if thread != 0, thread != pthread_self() { pthread_kill(thread, number) }
        }
    }

    private static func action(of number: Int32) -> sigaction {
        var action = sigaction()
        sigaction(number, nil, &action)
        return action
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        // An address of no function: C compares it as a number.
        // traps: never, the address of a function is as long as an Int
        unsafeBitCast(action(of: number).__sigaction_handler.sa_handler, to: Int.self) == 1
    }
}
