import Glibc
import KalijTransport
import Synchronization
import Testing

@Suite struct EventLoopTests {
    @Test("Timers fire in the order of their times; timers of the same time in the order of making")
    func timerOrder() throws {
        let loop = try EventLoop()
        var fired: [String] = []
        loop.schedule(after: 0.03) { fired.append("c") }
        loop.schedule(after: 0.01) { fired.append("a") }
        loop.schedule(after: 0.02) { fired.append("b") }
        let cancelled = loop.schedule(after: 0.015) { fired.append("cancelled") }
        loop.schedule(after: 0.04) { loop.stop() }
        cancelled.cancel()
        loop.run()
        #expect(fired == ["a", "b", "c"])
    }

    @Test("A timer can cancel another timer due in the same turn")
    func timerCancelsTimer() throws {
        let loop = try EventLoop()
        var fired = 0
        var second: Timer?
        loop.schedule(after: 0) {
            fired += 1
            second?.cancel()
        }
        second = loop.schedule(after: 0) { fired += 1 }
        loop.schedule(after: 0.02) { loop.stop() }
        loop.run()
        #expect(fired == 1)
    }

    @Test("A loop without work does not wake up")
    func idle() throws {
        let loop = try EventLoop()
        let before = loop.wakeUps
        let start = loop.now
        loop.schedule(after: 0.5) { loop.stop() }
        loop.schedule(after: 0.1) {}.cancel()
        loop.run()
        #expect(loop.wakeUps - before <= 2)
        #expect(loop.now - start >= 0.5)
    }

    @Test("Work queued during a turn runs in the next turn, in order, and does not starve timers")
    func queue() throws {
        let loop = try EventLoop()
        var order: [Int] = []
        loop.enqueue {
            order.append(1)
            loop.enqueue { order.append(3) }
        }
        loop.enqueue { order.append(2) }
        var spinning = true
        func spin() { if spinning { loop.enqueue { spin() } } }
        spin()
        loop.schedule(after: 0.02) {
            spinning = false
            loop.stop()
        }
        loop.run()
        #expect(order == [1, 2, 3])
    }

    @Test("A stop before the loop runs is not lost, and holds for one run")
    func stopFirst() throws {
        let loop = try EventLoop()
        loop.stop()
        loop.run()
        var turned = false
        loop.enqueue {
            turned = true
            loop.stop()
        }
        loop.run()
        #expect(turned)
    }

    @Test("Work from another thread wakes the loop, and none is lost")
    func waker() throws {
        let loop = try EventLoop()
        let waker = loop.waker
        let counter = Counter()
        let thread = Thread {
            for _ in 0..<10_000 { waker.enqueue { counter.add() } }
            waker.enqueue { waker.stop() }
        }
        loop.run()
        thread.join()
        #expect(counter.value == 10_000)
    }

    @Test("A waker outlives its loop")
    func wakerAfterLoop() throws {
        var loop: EventLoop? = try EventLoop()
        let waker = try #require(loop?.waker)
        loop = nil
        waker.enqueue { Issue.record("ran without a loop") }
        waker.stop()
    }

    @Test("Signals come to the handler instead of ending the process")
    func signals() throws {
        let loop = try EventLoop()
        var seen: [Int32] = []
        // On a thread of its own, because the mask belongs to the thread.
        try loop.watchSignals([SIGUSR1, SIGUSR2]) { signal in
            seen.append(signal)
            if seen.count == 2 { loop.stop() }
        }
        loop.schedule(after: 5) { loop.stop() }
        pthread_kill(pthread_self(), SIGUSR1)
        pthread_kill(pthread_self(), SIGUSR2)
        loop.run()
        #expect(Set(seen) == [SIGUSR1, SIGUSR2])
    }

    private static let usual = Atomic<Int>(0)

    @Test(
        "Signals that the system gives to other threads come to the loop, and afterwards have their earlier effect again"
    )
    func signalsOfOtherThreads() throws {
        signal(SIGIO) { _ in EventLoopTests.usual.add(1, ordering: .sequentiallyConsistent) }
        var before = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &before)
        let loop = try EventLoop()
        var seen = 0
        let watch = try SignalWatch(loop, [SIGIO]) { _ in
            seen += 1
            if seen == 2 { loop.stop() }
        }
        loop.schedule(after: 5) { loop.stop() }
        for _ in 0..<2 {
            Self.raiseElsewhere(SIGIO)
            // Two of a number that wait are one.
            if seen == 0 { loop.schedule(after: 0.05) { loop.stop() } }
            loop.run()
        }
        #expect(seen == 2 && Self.usual.load(ordering: .sequentiallyConsistent) == 0)
        watch.end()
        watch.end()
        Self.raiseElsewhere(SIGIO)
        let usual = Self.usual.load(ordering: .sequentiallyConsistent)
        #expect(seen == 2)
        #expect(usual == 1)
        var after = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &after)
        #expect((1..<32).allSatisfy { sigismember(&before, $0) == sigismember(&after, $0) })
    }

    /// In a thread that does not block the signal.
    private static func raiseElsewhere(_ number: Int32) {
        let other = Thread {
            var none = sigset_t()
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, nil)
            pthread_kill(pthread_self(), number)
        }
        other.join()
    }

    @Test("A signal that the process ignores stays ignored")
    func ignoredSignal() throws {
        signal(SIGVTALRM, SIG_IGN)
        let loop = try EventLoop()
        let watch = try SignalWatch(loop, [SIGVTALRM]) { _ in Issue.record("an ignored signal came") }
        kill(getpid(), SIGVTALRM)
        loop.schedule(after: 0.1) { loop.stop() }
        loop.run()
        watch.end()
    }

    @Test("A watch cancelled in a turn is not called in that turn")
    func cancelInTurn() throws {
        let loop = try EventLoop()
        var ends: [Int32] = [0, 0]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { ends.forEach { close($0) } }
        var watches: [Watch] = []
        var calls = 0
        for end in ends {
            watches.append(
                try loop.watch(end, .write) { _ in
                    calls += 1
                    watches.forEach { $0.cancel() }
                })
        }
        loop.schedule(after: 0.02) { loop.stop() }
        loop.run()
        #expect(calls == 1)
    }

    @Test("A watch without interest is not called, not even for a hang-up, and costs no wake-ups")
    func noInterest() throws {
        let loop = try EventLoop()
        var ends: [Int32] = [0, 0]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        var seen: Readiness = []
        let watch = try loop.watch(ends[0], []) { seen.formUnion($0) }
        close(ends[1])
        let before = loop.wakeUps
        loop.schedule(after: 0.05) { loop.stop() }
        loop.run()
        #expect(seen.isEmpty)
        #expect(loop.wakeUps - before <= 2)
        watch.interest = .read
        loop.schedule(after: 0.01) { loop.stop() }
        loop.run()
        #expect(seen.contains([.readable, .hangup]))
        watch.cancel()
        close(ends[0])
    }

    @Test("A descriptor that cannot be watched is refused with the reason")
    func badDescriptor() throws {
        let loop = try EventLoop()
        #expect(throws: SystemError("epoll_ctl", code: EBADF)) { try loop.watch(9999, .read) { _ in } }
    }
}
