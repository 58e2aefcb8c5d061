import Glibc
import KalijEngine
import Synchronization

/// A thread that runs one function and ends. Blocking socket calls must not occupy the threads of Swift's concurrency runtime.
///
/// Released without ``join()``, the thread is detached.
package final class JoinableThread: Sendable {
    // Ownership of the closure passes to the thread, its only user.
    private final class Body: @unchecked Sendable {
        let run: () -> Void
        init(_ run: @escaping () -> Void) { self.run = run }
    }

    private let handle: Mutex<pthread_t?>

    /// Starts a thread that runs `run`.
    /// - Throws: `EngineError.noThread` if the system cannot create another thread.
    package init(_ run: sending @escaping () -> Void) throws {
        // Released by the thread, or below if the thread cannot be created.
        let body = Unmanaged.passRetained(Body(run))
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { argument in
                // The application's signals are delivered to its other threads.
                var all = sigset_t()
                sigfillset(&all)
                pthread_sigmask(SIG_SETMASK, &all, nil)
                guard let argument else { return nil }
                Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, body.toOpaque())  // lives: retained above
        handle = Mutex(status == 0 ? thread : nil)
        guard status == 0 else {
            body.release()
            throw EngineError.noThread(reason: String(cString: strerror(status)))
        }
    }

    /// Waits until the thread has ended, including the destructors of its libraries' thread-specific data, which must not run
    /// beside the `atexit` handlers of the process.
    package func join() {
        handle.withLock { thread in
            guard let joined = thread else { return }
            thread = nil
            pthread_join(joined, nil)
        }
    }

    deinit { handle.withLock { if let thread = $0 { pthread_detach(thread) } } }
}
