import Foundation
import KalijLab
import Testing

/// "`main`, `wake` (several), `share`, `background` started, killed, frozen (SIGSTOP, so without warning) and thawed at random
/// on one directory with messages flowing in both directions."
///
/// `HANDOVERS=2000` gives the long form.
@Suite(.serialized) struct HandOverTests {
    @Test("nothing is lost or twice when the right to drive goes from hand to hand", arguments: ServerKind.allCases)
    func underFire(kind: ServerKind) async throws {
        let rounds = Int(ProcessInfo.processInfo.environment["HANDOVERS"] ?? "") ?? 12
        let world = try await RolesWorld(kind)
        defer { world.close() }
        let bob = try await Peer("bob", password: "secret", server: world.server, laboratory: world.laboratory)
            .chat(with: "alice@localhost", label: "m", rate: 20)
        var actors = Actors(world.kalij)
        for _ in 0..<rounds {
            try actors.act()
            try await Task.sleep(for: .milliseconds(Int.random(in: 50...700)))
        }
        let sent = try await bob.stopSending()
        actors.endAll()
        let start = Date()
        #expect(try world.kalij("flush", "--budget", "60").status == 0)
        let last = try world.kalij.running()
        try await last.event("caught_up", seconds: 60)
        try await Task.sleep(for: .seconds(2))
        #expect(last.end(SIGTERM).status == 0)
        print(
            "\(kind): \(rounds) rounds, \(actors.report), bob sent \(sent), at the end \(Date().timeIntervalSince(start)) s"
        )
        try await check(world, bob, sent, actors)
        await bob.quit()
    }

    private func check(_ world: RolesWorld, _ bob: Chat, _ sent: Int, _ actors: Actors) async throws {
        let incoming = try await world.sql("SELECT body FROM message WHERE direction = 'in' ORDER BY position")
            .split(separator: "\n").map(String.init)
        #expect(incoming == (0..<sent).map { "m \($0)" } || incoming == (1...max(1, sent)).map { "m \($0)" })
        #expect(Set(incoming).count == incoming.count, "twice")
        let received = try bob.events().filter { $0.event == "received" }.compactMap(\.body)
        #expect(Set(received).count == received.count, "what was sent reached bob twice")
        for body in actors.accepted where !received.contains(body) {
            let state = try await world.sql("SELECT state, settled FROM message WHERE body = '\(body)'")
            Issue.record("\(body) was accepted and did not reach bob: \(state)")
        }
    }
}

/// The processes of one directory, and what is done to them.
private struct Actors {
    private let kalij: Kalij
    private var running: [Process] = []
    private var frozen: [Process] = []
    private(set) var accepted: [String] = []
    private var counts: [String: Int] = [:]

    init(_ kalij: Kalij) { self.kalij = kalij }

    var report: String { counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ") }

    mutating func act() throws {
        running.removeAll { !$0.isRunning }
        frozen.removeAll { !$0.isRunning }
        switch Int.random(in: 0..<10) {
        case 0, 1: try start("run")
        case 2, 3, 4: try start("wake")
        case 5: try start("flush")
        case 6: try send()
        case 7: kill(SIGSTOP, "frozen")
        case 8: thaw()
        default: kill(SIGKILL, "killed")
        }
    }

    private mutating func start(_ command: String) throws {
        counts[command, default: 0] += 1
        let process = Process()
        process.executableURL = URL(fileURLWithPath: kalij.executable)
        process.arguments = ["--data", kalij.data, "--json", command]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        running.append(process)
    }

    private mutating func send() throws {
        counts["send", default: 0] += 1
        let body = "a \(accepted.count) \(UInt32.random(in: 0...UInt32.max))"
        if try kalij("send", "bob@localhost", body, "--queue-only").status == 0 { accepted.append(body) }
    }

    private mutating func kill(_ signal: Int32, _ what: String) {
        guard let process = running.randomElement() else { return }
        counts[what, default: 0] += 1
        Glibc.kill(process.processIdentifier, signal)
        running.removeAll { $0 === process }
        if signal == SIGSTOP { frozen.append(process) } else { process.waitUntilExit() }
    }

    private mutating func thaw() {
        guard let process = frozen.randomElement() else { return }
        counts["thawed", default: 0] += 1
        Glibc.kill(process.processIdentifier, SIGCONT)
        frozen.removeAll { $0 === process }
        running.append(process)
    }

    /// All of them end; those that are frozen do so last, after having been thawed.
    mutating func endAll() {
        for process in frozen { Glibc.kill(process.processIdentifier, SIGCONT) }
        for process in running + frozen where process.isRunning { Glibc.kill(process.processIdentifier, SIGTERM) }
        for process in running + frozen {
            for _ in 0..<300 where process.isRunning { usleep(20_000) }
            #expect(!process.isRunning, "a process hangs")
            if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) }
        }
    }
}
