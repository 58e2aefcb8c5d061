import Foundation
import KalijLab
import Testing

/// Only the part before the measuring: on a fresh machine that part fails.
@Suite("Starting the benchmarks")
struct BenchmarkTests {
    private let root = String(#filePath.components(separatedBy: "/Tests/")[0])

    private func run(_ words: [String], environment: [String: String] = [:]) throws -> (status: Int32, text: String) {
        var launch = Launch(executable: "/usr/bin/env")
        launch.arguments = words
        launch.environment.merge(environment) { $1 }
        launch.directory = root
        let running = try Running(launch)
        let ending = running.process.ended()
        return (ending?.status ?? -1, try running.output + running.errors)
    }

    @Test(
        "each part by itself installs its needs before anything else, as `make demo` does",
        arguments: [
            "run", "receive", "catchup", "barrier", "wake", "mailbox", "parse", "query", "memory", "handlers",
            "allocations", "hostile", "push", "push-soak",
        ])
    func installs(part: String) throws {
        let plan = try run(["make", "--dry-run", "--no-print-directory", "-C", "Benchmarks", part])
        #expect(plan.status == 0, "\(plan.text)")
        let first = try #require(plan.text.split(separator: "\n").first)
        #expect(first.hasPrefix("../Scripts/install-packages build "))
    }

    @Test("each measuring script finds what it imports")
    func imports() throws {
        let scripts = try FileManager.default.subpathsOfDirectory(atPath: "\(root)/Benchmarks")
            .filter { $0.hasSuffix("/run.py") && !$0.hasPrefix(".build") }
            .filter { try String(contentsOfFile: "\(root)/Benchmarks/\($0)", encoding: .utf8).contains("argparse") }
        #expect(scripts.count > 7)
        for script in scripts {
            let outcome = try run(["Benchmarks/\(script)", "--help"])
            #expect(outcome.status == 0, "\(script): \(outcome.text)")
        }
    }

    @Test("a wrong YARDSTICK is reported in words, before anything is built")
    func yardstick() throws {
        let outcome = try run(["Benchmarks/Query/run.py"], environment: ["YARDSTICK": "/no/such/folder"])
        #expect(outcome.status == 2)
        #expect(
            outcome.text.contains(
                "YARDSTICK=/no/such/folder will not do: there is no chat.xml, mam.xml, mucpres.xml, omemo.xml, disco.xml in "
                    + "/no/such/folder/samples"))
        #expect(!outcome.text.contains("Traceback"))
    }
}
