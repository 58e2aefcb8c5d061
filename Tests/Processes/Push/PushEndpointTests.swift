import Foundation
import KalijLab
import TestSupport
import Testing

@Suite("Push endpoints of strangers, in a network where every connect is seen")
struct PushEndpointTests {
    private struct Bought: Decodable {
        let names: Int
        let descriptors: Int
        /// Megabytes.
        let growth: Double
        /// Seconds of the slowest honest push.
        let longest: Double
        let honest: [String]
    }

    private struct Report: Decodable {
        let bought: Bought
        let forbidden: Int
        let connects: [String]
        let rebinding: [String]
        let turned: Int
        /// Of the three pushes that are allowed.
        let seconds: Double
        /// Connects of the program's own to special addresses, which the watcher has seen.
        let watched: Int
        let allowed: [String: String]
        let all: [String]
        let answers: [String: Int]
    }

    /// Where the names of the network may lead to.
    private static let open: Set = ["20.0.0.1 443", "20.0.0.2 443", "20.0.0.3 443", "2606:aaaa::1 443"]

    @Test("at least 150 forbidden endpoints: none is connected to; names that change between two look-ups neither")
    func endpoints() async throws {
        let scratch = try ScratchDirectory()
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Programs/push_endpoints.py").path
        var launch = Launch(executable: "/usr/bin/python3")
        launch.arguments = [program, try PushStage.command(), scratch.file("network")]
        launch.environment["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
        launch.environment["PYTHONDONTWRITEBYTECODE"] = "1"
        let running = try Running(launch)
        running.process.closeInput()
        let ending = running.process.ended()
        let errors = try running.errors
        try #require(ending?.status == 0, "\(errors)")
        let line = try #require(try running.lines.last, "\(errors)")
        let report = try JSONDecoder().decode(Report.self, from: Data(line.utf8))
        print(
            "\(report.forbidden) forbidden endpoints, \(report.turned) pushes to names that change: \(report.answers)")
        #expect(report.forbidden >= 150)
        #expect(report.watched >= 20)
        // A push that came to nothing at first takes the time-out of 2 s besides.
        #expect(report.seconds < 2)
        #expect(report.connects.isEmpty, "\(report.connects)")
        // No device is cancelled, and no push counts as taken.
        #expect(report.answers.keys.allSatisfy { $0.hasPrefix("wait/") }, "\(report.answers)")
        #expect(report.rebinding.allSatisfy { Self.open.contains($0) }, "\(report.rebinding)")
        // Somebody has bought a domain with thousands of names: nobody else waits, and there are bounds.
        print("\(report.bought)")
        #expect(report.bought.honest == ["result"])
        // Behind the others it would wait for thousands of look-ups; a busy machine takes seconds.
        #expect(report.bought.longest < 20)
        #expect(report.bought.descriptors < 2_000)
        #expect(report.bought.growth < 100)
        // The watcher sees connects, and the server makes them where they are allowed: by both versions of IP.
        #expect(report.allowed["good.services.example/p/1"] == "result")
        #expect(report.allowed["six.services.example/p/1"] == "result")
        #expect(report.allowed["good.services.example/redirect"] == "wait/internal-server-error")
        #expect(report.all.contains("20.0.0.1 443") && report.all.contains("2606:aaaa::1 443"))
        #expect(report.all.allSatisfy { Self.open.contains($0) }, "\(report.all)")
    }
}
