import Foundation
import KalijLab
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
        let run = try world.kalij("--json", "wake")
        #expect(run.status == 0 && Date().timeIntervalSince(start) < 10)
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
        let start = Date()
        let wake = try world.kalij("--json", "wake")
        #expect(wake.status == 0 && wake.output.isEmpty && Date().timeIntervalSince(start) < 2, "\(wake.errors)")
        #expect(main.isRunning)
    }

    /// "A `main` frozen by SIGSTOP does not stop `wake` from delivering within its budget; thawed, it does no harm, notices,
    /// and is of use again."
    @Test("a frozen `run` is given up; thawed, it drives again", arguments: ServerKind.allCases)
    func frozenMain(kind: ServerKind) async throws {
        let world = try await World(kind)
        defer { world.close() }
        let main = try world.kalij.running()
        try await main.event("caught_up")
        // Not within a transaction: there the process would be killed.
        try await sleep(for: .seconds(1))
        kill(main.pid, SIGSTOP)
        try await world.send(["while it is frozen"])
        let start = Date()
        let wake = try world.kalij("--json", "wake")
        let seconds = Date().timeIntervalSince(start)
        print("wake beside a frozen main on \(kind): \(seconds) s")
        #expect(try wake.notified() == ["while it is frozen"], "\(wake.errors)")
        #expect(seconds < 25)
        let before = try main.events().count
        kill(main.pid, SIGCONT)
        for _ in 0..<200 where try main.events().count == before { try await sleep(for: .milliseconds(50)) }
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
        let wake = try world.kalij.begun(["--json", "wake"])
        try await world.untilDriven(by: "wake")
        let start = Date()
        let main = try world.kalij.running()
        try await main.event("online")
        print("main took over from wake in \(Date().timeIntervalSince(start)) s")
        #expect(Date().timeIntervalSince(start) < 3)
        #expect(wake.process.ended() == .exited(0))
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
        while try world.kalij.driver() != nil, Date().timeIntervalSince(start) < 5 {
            try await sleep(for: .milliseconds(20))
        }
        #expect(Date().timeIntervalSince(start) < 1.2)
        try await world.send(["meanwhile"])
        #expect(try world.kalij("--json", "wake").notified() == ["meanwhile"])
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
        #expect(Date().timeIntervalSince(start) < 6.2)
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

extension Kalij {
    /// The present driver's role.
    func driver() throws -> String? {
        let status = try self("--json", "status").objects().first
        return (status?["driver"] as? [String: Any])?["role"] as? String
    }
}

extension World {
    func untilDriven(by role: String) async throws {
        for _ in 0..<250 {
            if try kalij.driver() == role { return }
            try await sleep(for: .milliseconds(20))
        }
        Issue.record("\(role) does not drive")
    }
}
