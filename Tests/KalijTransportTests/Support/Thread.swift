import Glibc
import Synchronization

/// A thread for work beside the loop.
final class Thread: Sendable {
    private let handle: pthread_t

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
        precondition(status == 0)
        self.handle = handle
    }

    func join() { pthread_join(handle, nil) }
}

/// A counter for threads.
final class Counter: Sendable {
    private let number = Mutex(0)

    func add(_ more: Int = 1) { number.withLock { $0 += more } }
    var value: Int { number.withLock { $0 } }
}
