import Foundation
import KalijLab
import Testing

/// Promise 4, "every notification owed to the user is shown at least once", where nobody reads what `wake` prints. "Showing can
/// fail: then the row stays owed and the exit status says so (75)."
@Suite(.serialized) struct WakeOutputTests {
    @Test(
        "unread notifications are not shown: /dev/full, a closed output, a reader that ends at once or later without reading",
        arguments: [">/dev/full", ">&-", "| true", "| sleep 3", "| (sleep 1.5; kill -9 $BASHPID)"])
    func unread(_ rest: String) async throws {
        let world = try await World()
        defer { world.close() }
        try await world.online()
        try await world.send(["one", "two"])
        let run = try Pipeline(kalij: world.kalij)("--json wake --budget 300", rest)
        #expect(run.status == 75, "\(run.errors)")
        #expect(run.errors.contains("standard output"), "\(run.errors)")
        #expect(try await world.sql("SELECT count(*) FROM notification WHERE done = 0") == "2\n")
        let next = try world.kalij("--json", "wake")
        #expect(next.status == 0)
        #expect(try next.notified() == ["one", "two"])
    }

    @Test("a slow reader gets everything, under the same identifiers if more often")
    func slow() async throws {
        let world = try await World()
        defer { world.close() }
        try await world.online()
        let bodies = (0..<5).map { "message \($0)" }
        try await world.send(bodies)
        let run = try Pipeline(kalij: world.kalij)(
            "--json wake --budget 300", "| while sleep 0.4; do read -r line || break; printf '%s\\n' \"$line\"; done")
        let next = try world.kalij("--json", "wake")
        let lines = (run.output + next.output).split(separator: "\n").map(String.init)
        var shown: [String: Set<String>] = [:]
        for line in lines {
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            guard let body = object["body"] as? String, let identifier = object["identifier"] as? String else {
                continue
            }
            shown[body, default: []].insert(identifier)
        }
        #expect(Set(shown.keys) == Set(bodies), "\(run.output)\(run.errors)")
        #expect(shown.values.allSatisfy { $0.count == 1 })
        #expect(next.status == 0)
    }

    @Test("a reader killed at random loses nothing unread")
    func killedReader() async throws {
        let world = try await World()
        defer { world.close() }
        try await world.online()
        var seen: Set<String> = []
        var sent: [String] = []
        func see(_ output: String) {
            for line in output.split(separator: "\n") {
                let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                if let body = object?["body"] as? String { seen.insert(body) }
            }
        }
        let random = RandomChoices("wake output")
        for round in 0..<6 {
            let bodies = (0..<5).map { "\(round) \($0)" }
            sent += bodies
            try await world.send(bodies)
            // The reader writes each line at once after reading, and dies some time after the first line.
            let delay = random.number(0...0.02)
            let reader = """
                | /usr/bin/python3 -c 'import os, sys, threading, time
                for line in sys.stdin.buffer.raw if False else iter(lambda: os.read(0, 100), b""):
                    os.write(1, line)
                    threading.Timer(\(delay), lambda: os.kill(os.getpid(), 9)).start()'
                """
            see(try Pipeline(kalij: world.kalij)("--json wake --budget 300", reader).output + "\n")
        }
        // A line torn by a death is not seen here; a line that was read may be.
        let last = try world.kalij("--json", "wake")
        #expect(last.status == 0)
        see(last.output)
        let owed = try await world.sql("SELECT count(*) FROM notification WHERE done = 0")
        #expect(owed == "0\n")
        let missing = Set(sent).subtracting(seen)
        #expect(missing.isEmpty, "\(missing.sorted())")
    }
}
