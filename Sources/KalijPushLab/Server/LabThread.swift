import Glibc
import Synchronization

/// A thread that can be waited for.
final class LabThread: Sendable {
    /// Nil after the wait: the handle may be another thread's then.
    private let handle: Mutex<pthread_t?>

    init(_ body: @escaping @Sendable () -> Void) {
        final class Box: Sendable {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        var handle = pthread_t()
        // Retained here, released by the thread.
        let box = Unmanaged.passRetained(Box(body)).toOpaque()
        let status = pthread_create(
            &handle, nil,
            { argument in
                if let argument { Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body() }
                return nil
            }, box)
        // traps: in tests and benchmarks only, where the system has no thread left
        precondition(status == 0)
        self.handle = Mutex(handle)
    }

    /// Waits for the thread's end; later calls do nothing.
    func join() {
        handle.withLock { handle in
            if let handle { pthread_join(handle, nil) }
            handle = nil
        }
    }
}

/// A signal from a thread that has reached a point to a waiting thread.
///
/// @unchecked because of the pointer: the semaphore is made in init and freed in deinit, and is made for threads.
final class LabSignal: @unchecked Sendable {
    private let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func ring() { sem_post(semaphore) }
    func wait() { while sem_wait(semaphore) != 0 {} }
}
