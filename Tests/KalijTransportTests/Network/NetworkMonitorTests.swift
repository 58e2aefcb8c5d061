import Glibc
import KalijTransport
import Testing

@Suite(.serialized) struct NetworkMonitorTests {
    // Addresses are really changed; only root may do so.
    @Test("Added and removed addresses are reported, once for simultaneous changes", .enabled(if: geteuid() == 0))
    func addresses() throws {
        let loop = try EventLoop()
        var changes = 0
        let monitor = try NetworkMonitor(loop: loop) { changes += 1 }
        func change(_ action: String) throws {
            for number in 1...3 {
                #expect(try Command(["ip", "address", action, "127.88.0.\(number)/32", "dev", "lo"]).wait() == 0)
            }
            loop.schedule(after: 0.4) { loop.stop() }
            loop.run()
        }
        try change("add")
        #expect(changes == 1)
        try change("del")
        #expect(changes == 2)
        withExtendedLifetime(monitor) {}
    }

    @Test("Nothing is told, and the process sleeps, while nothing changes")
    func idle() throws {
        let loop = try EventLoop()
        let monitor = try NetworkMonitor(loop: loop) { Issue.record("nothing has changed") }
        let before = loop.wakeUps
        loop.schedule(after: 0.5) { loop.stop() }
        loop.run()
        #expect(loop.wakeUps - before <= 1)
        withExtendedLifetime(monitor) {}
    }
}
