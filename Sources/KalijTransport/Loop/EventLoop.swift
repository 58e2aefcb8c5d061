import CLinux
import Glibc

/// A thread's loop over descriptors, timers and queued work.
///
/// Everything of an event loop happens on the thread that calls ``run()``; only a ``Waker`` may be used elsewhere. A
/// loop without work sleeps in `epoll_wait` without a timeout and costs no wake-up.
public final class EventLoop {
    var timers = TimerQueue()
    /// How often a wait has returned: tests show with this count that an idle process sleeps.
    public private(set) var wakeUps = 0

    private let descriptor: Int32
    private let inbox: WakerInbox
    private var watches: [UInt64: Watch] = [:]
    private var queue: [() -> Void] = []
    private var lastToken: UInt64 = 0
    private var lastTimer: UInt64 = 0
    private var isStopping = false
    private var ready = [epoll_event](repeating: epoll_event(), count: 64)
    /// Where connections read into; the bytes are lent out and used before the next read.
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 * 1024, alignment: 16)

    /// - Throws: ``SystemError`` if the process has no descriptors left.
    public init() throws(SystemError) {
        inbox = try WakerInbox()
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        if descriptor < 0 { throw SystemError("epoll_create1") }
        // traps: never, the watch ends with the loop, its owner
        _ = try watch(inbox.descriptor, .read) { [unowned self] _ in emptyInbox() }
    }

    deinit {
        inbox.shut()
        Glibc.close(descriptor)
        scratch.deallocate()
    }

    /// Seconds on the monotonic clock of the timers.
    public var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Turns until ``stop()``; not at all after an earlier call of ``stop()``. May be called again afterwards.
    public func run() {
        while !isStopping { turn() }
        isStopping = false
    }

    /// Makes ``run()`` return after the turn in hand, or the next ``run()`` at once.
    public func stop() {
        isStopping = true
    }

    /// Calls `handler` each time `fd` is ready for `interest`, and for as long as that lasts (level-triggered).
    ///
    /// - Returns: the watch; the loop keeps the watch until cancelled.
    /// - Throws: ``SystemError`` if `fd` is not open, cannot be waited for, or is watched already.
    public func watch(
        _ fd: Int32, _ interest: Interest, _ handler: @escaping (Readiness) -> Void
    ) throws(SystemError) -> Watch {
        lastToken += 1
        let watch = Watch(loop: self, descriptor: fd, token: lastToken, interest: interest, handler: handler)
        if !interest.isEmpty { try control(EPOLL_CTL_ADD, watch) }
        watches[watch.token] = watch
        return watch
    }

    /// Calls `body` once, `seconds` from now. A time in the past means the next turn.
    @discardableResult
    public func schedule(after seconds: Double, _ body: @escaping () -> Void) -> Timer {
        lastTimer += 1
        let timer = Timer(loop: self, deadline: now + max(0, seconds), order: lastTimer, body: body)
        timers.insert(timer)
        return timer
    }

    /// Calls `body` in the next turn, after earlier queued work.
    public func enqueue(_ body: @escaping () -> Void) {
        queue.append(body)
    }

    /// For other threads.
    public var waker: Waker { Waker(inbox: inbox) }

    // MARK: Turning

    private func turn() {
        runQueue()
        fireTimers()
        if isStopping { return }
        let count = epoll_wait(descriptor, &ready, Int32(ready.count), timeout())  // fits: a buffer of a few events
        wakeUps += 1
        guard count > 0 else { return }  // timed out, or a debugger or SIGCONT interrupted the wait
        for event in ready.prefix(Int(count)) {
            // A watch cancelled by an earlier handler of this turn is no longer in the table.
            guard let watch = watches[event.data.u64], let handler = watch.handler else { continue }
            handler(Readiness(epoll: event.events))
        }
    }

    private func runQueue() {
        guard !queue.isEmpty else { return }
        let bodies = queue
        queue = []
        for body in bodies { body() }
    }

    private func fireTimers() {
        guard timers.next != nil else { return }
        let now = now
        // A timer made by a timer's body is due later than `now`, or such timers would starve the descriptors.
        while let timer = timers.popDue(now) {
            let body = timer.body
            timer.body = nil
            body?()
        }
    }

    /// Milliseconds to wait, rounded up so that a timer is due when the wait ends; -1 for a wait without an end.
    private func timeout() -> Int32 {
        if !queue.isEmpty { return 0 }
        guard let next = timers.next else { return -1 }
        let milliseconds = ((next.deadline - now) * 1000).rounded(.up)
        return Int32(max(0, min(milliseconds, 86_400_000)))  // fits: at most a day
    }

    private func emptyInbox() {
        let (bodies, stop) = inbox.drain()
        for body in bodies { body() }
        if stop { self.stop() }
    }

    // MARK: Watches

    func interestChanged(of watch: Watch, from old: Interest) {
        let operation =
            old.isEmpty ? EPOLL_CTL_ADD : watch.interest.isEmpty ? EPOLL_CTL_DEL : EPOLL_CTL_MOD
        do throws(SystemError) {
            try control(operation, watch)
        } catch {
            // The descriptor was closed under the watch, or the kernel is out of memory: the owner finds out by using
            // the descriptor.
            guard !watch.interest.isEmpty else { return }
            enqueue { watch.handler?(.hangup) }
        }
    }

    func remove(_ watch: Watch) {
        watches[watch.token] = nil
        if !watch.interest.isEmpty { try? control(EPOLL_CTL_DEL, watch) }
    }

    private func control(_ operation: Int32, _ watch: Watch) throws(SystemError) {
        var event = epoll_event()
        event.events = watch.interest.epoll
        event.data.u64 = watch.token
        if epoll_ctl(descriptor, operation, watch.descriptor, &event) != 0 { throw SystemError("epoll_ctl") }
    }
}

extension Interest {
    var epoll: UInt32 {
        (contains(.read) ? EPOLLIN.rawValue : 0) | (contains(.write) ? EPOLLOUT.rawValue : 0)
    }
}

extension Readiness {
    init(epoll events: UInt32) {
        self = []
        if events & EPOLLIN.rawValue != 0 { insert(.readable) }
        if events & EPOLLOUT.rawValue != 0 { insert(.writable) }
        if events & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 { insert(.hangup) }
    }
}
