import Glibc

/// A thread that runs one function and ends. Blocking socket calls must not occupy the threads of Swift's concurrency runtime.
package enum DetachedThread {
    // Ownership of the closure passes to the thread, its only user.
    private final class Body: @unchecked Sendable {
        let run: () -> Void
        init(_ run: @escaping () -> Void) { self.run = run }
    }

    /// - Throws: `EngineError.noThread` if the system cannot create another thread.
    package static func start(_ run: sending @escaping () -> Void) throws {
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
        guard status == 0 else {
            body.release()
            throw EngineError.noThread(reason: String(cString: strerror(status)))
        }
        pthread_detach(thread)
    }
}
