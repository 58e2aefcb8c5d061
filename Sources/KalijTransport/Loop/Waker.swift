import CLinux
import Glibc
import Synchronization

/// Brings work to an ``EventLoop`` from other threads.
public struct Waker: Sendable {
    let inbox: WakerInbox

    /// Runs `body` on the loop's thread, in its next turn. After the loop has been freed, `body` is dropped.
    public func enqueue(_ body: @escaping @Sendable () -> Void) {
        inbox.add(body)
    }

    /// Makes the loop's ``EventLoop/run()`` return after the turn in hand.
    public func stop() {
        inbox.requestStop()
    }
}

/// The place for the wakers' work, with the descriptor that wakes the loop.
final class WakerInbox: Sendable {
    private struct Contents {
        var bodies: [@Sendable () -> Void] = []
        var stop = false
        var isOpen = true
    }

    let descriptor: Int32
    private let contents = Mutex(Contents())

    init() throws(SystemError) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        if descriptor < 0 { throw SystemError("eventfd") }
    }

    // The last waker closes the descriptor, so that a waker never writes to a reused number.
    deinit { Glibc.close(descriptor) }

    func add(_ body: @escaping @Sendable () -> Void) {
        let first = contents.withLock { contents in
            guard contents.isOpen else { return false }
            contents.bodies.append(body)
            return contents.bodies.count == 1
        }
        if first { ring() }
    }

    func requestStop() {
        contents.withLock { $0.stop = true }
        ring()
    }

    /// Takes all waiting work, and whether to stop.
    func drain() -> (bodies: [@Sendable () -> Void], stop: Bool) {
        var count: UInt64 = 0
        _ = withUnsafeMutableBytes(of: &count) { Glibc.read(descriptor, $0.baseAddress, $0.count) }
        return contents.withLock { contents in
            defer {
                contents.bodies = []
                contents.stop = false
            }
            return (contents.bodies, contents.stop)
        }
    }

    /// The loop is being freed: later work is dropped.
    func shut() {
        contents.withLock { contents in
            contents.isOpen = false
            contents.bodies = []
        }
    }

    private func ring() {
        var one: UInt64 = 1
        _ = withUnsafeBytes(of: &one) { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }
}
