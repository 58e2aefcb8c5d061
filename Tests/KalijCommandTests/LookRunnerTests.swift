import Foundation
import TestSupport
import Testing

@testable import kalij

@Suite("Programs that pushes start")
struct LookRunnerTests {
    private let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    private func runner() -> LookRunner { LookRunner { ["/bin/sh", "-c", $0 ?? "true"] } }

    /// Runs until nothing is due any more, by a clock that is a minute ahead at each step.
    private func finish(_ runner: inout LookRunner) async throws {
        var now: Int64 = 0
        while runner.isBusy {
            runner.advance(now)
            now += 60_000
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    private func lines(_ name: String) -> Int {
        ((try? String(contentsOfFile: scratch.file(name), encoding: .utf8)) ?? "").split(separator: "\n").count
    }

    @Test(
        "a program that succeeds or fails runs once; one that has left work or was killed runs twice more",
        arguments: [
            ("exit 0", 1), ("exit 69", 1), ("exit 75", 3), ("kill -9 $$", 3), ("exec /missing", 1),
        ])
    func repetition(_ end: String, _ count: Int) async throws {
        var runner = runner()
        runner.request("echo run >> \(scratch.file("runs")); \(end)")
        try await finish(&runner)
        #expect(lines("runs") == count)
        runner.request("echo run >> \(scratch.file("runs")); \(end)")
        try await finish(&runner)
        #expect(lines("runs") == 2 * count, "the next push counts anew")
    }

    @Test("100 pushes during a run are one run more")
    func coalescing() async throws {
        var runner = runner()
        let command = "echo run >> \(scratch.file("runs")); while [ ! -e \(scratch.file("end")) ]; do sleep 0.01; done"
        runner.request(command)
        runner.advance(0)
        #expect(runner.isBusy && runner.descriptor != nil)
        for number in 0..<100 {
            runner.request(command)
            runner.advance(Int64(number))
        }
        try "".write(toFile: scratch.file("end"), atomically: true, encoding: .utf8)
        try await finish(&runner)
        #expect(lines("runs") == 2)
    }

    @Test("a repetition waits a second, then ten")
    func pauses() async throws {
        var runner = runner()
        runner.request("exit 75")
        var now: Int64 = 1_000_000
        for pause: Int64 in [1_000, 10_000] {
            runner.advance(now)
            while runner.descriptor != nil {
                try await Task.sleep(for: .milliseconds(5))
                runner.advance(now)
            }
            #expect(runner.next == now + pause)
            now += pause
        }
        runner.advance(now)
        while runner.descriptor != nil {
            try await Task.sleep(for: .milliseconds(5))
            runner.advance(now)
        }
        #expect(!runner.isBusy)
    }
}
