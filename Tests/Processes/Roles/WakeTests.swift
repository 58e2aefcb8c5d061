import Foundation
import KalijLab
import TestSupport
import Testing

/// `kalij wake`, `kalij flush` and their work beside others, against a real server.
@Suite(.serialized) struct WakeTests {
    @Test("a wake run prints new messages and ends by itself; without news it prints nothing")
    func fetches() async throws {
        let world = try await World()
        defer { world.close() }
        try await world.online()
        #expect(try world.kalij("--json", "wake").output.isEmpty)
        try await world.send(["one", "two"])
        let start = Date()
        let run = try world.kalij("--json", "wake", "--budget", "300")
        #expect(run.status == 0, "it ends by itself, and not by its budget")
        measured("wake with news", Date().timeIntervalSince(start), atMost: 10)
        #expect(try run.notified() == ["one", "two"])
        let first = try #require(try run.objects().first)
        #expect(first["conversation"] as? String == "bob@localhost" && first["identifier"] as? String != nil)
        #expect(try world.kalij("--json", "wake").output.isEmpty)
        #expect(try world.kalij("--json", "history").lines.count == 2)
    }

    @Test("while `run` drives, a wake run reports the push and ends silently")
    func handsOver() async throws {
        let world = try await World()
        defer { world.close() }
        let main = try world.kalij.running()
        try await main.event("caught_up")
        let (start, takeovers) = (Date(), try await world.takeovers())
        let wake = try world.kalij("--json", "wake")
        measured("wake beside run", Date().timeIntervalSince(start), atMost: 2)
        #expect(wake.status == 0 && wake.output.isEmpty, "\(wake.errors)")
        #expect(main.isRunning)
        #expect(try await world.takeovers() == takeovers)
    }

    /// "A `main` frozen by SIGSTOP does not stop `wake` from delivering within its budget; thawed, it does no harm, notices,
    /// and is of use again."
    @Test("a frozen `run` is given up; thawed, it drives again", arguments: LongForm.servers)
    func frozenMain(kind: ServerKind) async throws {
        let world = try await World(kind)
        defer { world.close() }
        let main = try world.kalij.running()
        try await main.event("caught_up")
        try await world.freezeIdle(main.pid)
        try await world.send(["while it is frozen"])
        let start = Date()
        let wake = try world.kalij("--json", "wake", "--budget", "300")
        measured("wake beside a frozen main on \(kind)", Date().timeIntervalSince(start), atMost: 25)
        #expect(try wake.status == 0 && wake.notified() == ["while it is frozen"], "\(wake.errors)")
        let before = try main.events().count
        kill(main.pid, SIGCONT)
        #expect(try await until { try main.events().count > before })
        try await world.send(["after it"])
        try await main.event("message") { $0["body"] as? String == "after it" }
        #expect(try world.kalij("--json", "history").lines.count == 2)
        #expect(main.end(SIGTERM).status == 0)
    }

    @Test("`run` that starts while a wake run drives takes over within two seconds; the wake run ends in order")
    func mainTakesOver() async throws {
        let world = try await World()
        defer { world.close() }
        try await world.online()
        // Without answers of the server the wake run does not end by itself.
        let server = try #require(world.server.pid)
        kill(server, SIGSTOP)
        let wake = try world.kalij.begun(["--json", "wake", "--budget", "300"])
        try await world.untilDriven(by: "wake")
        let start = Date()
        let main = try world.kalij.running()
        #expect(wake.process.ended() == .exited(0))
        try await world.untilDriven(by: "main")
        measured("main takes over from wake", Date().timeIntervalSince(start), atMost: 3)
        kill(server, SIGCONT)
        try await main.event("online")
    }

    @Test(
        "a process frozen within a transaction, or while closing a database, is killed; `run` starts nevertheless",
        arguments: [("kalij.db", false), ("kalij.db", true), ("mailbox.db", false), ("mailbox.db", true)])
    func frozenWriter(name: String, exclusively: Bool) async throws {
        let world = try await World()
        defer { world.close() }
        try await world.online()
        let writer = try await world.writerInTransaction(name, exclusively: exclusively)
        let main = try world.kalij.running()
        try await main.event("online")
        #expect(writer.process.ended() == .killed(SIGKILL))
    }

    @Test("a process frozen within a transaction beside a `run` is killed, and messages received meanwhile are stored")
    func frozenBesideRun() async throws {
        let world = try await World()
        defer { world.close() }
        let main = try world.kalij.running()
        try await main.event("caught_up")
        let writer = try await world.writerInTransaction()
        try await world.send(["meanwhile"])
        try await main.event("message")
        #expect(writer.process.ended() == .killed(SIGKILL))
        #expect(main.end(SIGTERM).status == 0)
    }

    @Test("before a freeze `run` lets go within a second, and afterwards takes over again")
    func freezes() async throws {
        let world = try await World()
        defer { world.close() }
        let main = try world.kalij.running()
        try await main.event("caught_up")
        kill(main.pid, SIGTSTP)
        let start = Date()
        #expect(try await until(every: 20) { try world.kalij.driver() == nil })
        measured("run lets go before a freeze", Date().timeIntervalSince(start), atMost: 1.2)
        try await world.send(["meanwhile"])
        #expect(try world.kalij("--json", "wake", "--budget", "300").notified() == ["meanwhile"])
        kill(main.pid, SIGCONT)
        try await world.untilDriven(by: "main")
        #expect(main.end(SIGTERM).status == 0)
    }

    @Test("flush sends the messages of `send --queue-only`, and ends")
    func flushes() async throws {
        let world = try await World()
        defer { world.close() }
        #expect(try world.kalij("send", "bob@localhost", "left", "--queue-only").status == 0)
        let run = try world.kalij("flush")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try await world.sql("SELECT state FROM message").hasPrefix("acked"))
        #expect(try world.kalij("flush").status == 0)
    }

    @Test("with a server that takes connections and says nothing, the budget holds, and the user is told")
    func stalled() async throws {
        let world = try await World()
        defer { world.close() }
        _ = try await world.sql("UPDATE account SET server = '127.0.0.1:\(try Self.silentPort())'")
        let start = Date()
        let run = try world.kalij("--json", "wake", "--budget", "6")
        measured("wake with a silent server and a budget of 6 s", Date().timeIntervalSince(start), atMost: 6.2)
        #expect(run.status == 75)
        #expect(try run.objects().last?["kind"] as? String == "reopen")
    }

    /// A port where the kernel takes connections and nobody ever reads.
    private static func silentPort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && listen(descriptor, 8) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        try #require(isListening)
        return UInt16(bigEndian: address.sin_port)
    }
}
