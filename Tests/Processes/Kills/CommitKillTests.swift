import Foundation
import KalijLab
import Testing

/// "Killing real processes: at every commit of a recorded scenario in turn."
///
/// `KALIJ_COMMITS=every swift test --filter CommitKillTests` kills before, within and after each commit, on both
/// servers; otherwise, every seventh commit of one server, each at one of these moments.
@Suite(.serialized) struct CommitKillTests {
    private static let isWhole = ProcessInfo.processInfo.environment["KALIJ_COMMITS"] == "every"

    private struct Kill: Sendable {
        var commit: Int
        var moment: CommitShim.Moment
    }

    @Test(
        "killed at any commit, nothing is lost, twice or out of order",
        arguments: isWhole ? ServerKind.allCases : [.prosody])
    func kills(kind: ServerKind) async throws {
        let begin = ContinuousClock.now
        let laboratory = try Laboratory()
        var isKept = false
        defer { laboratory.close(keep: isKept) }
        let server = try await makeServer(kind, in: laboratory)
        try await server.start()
        let shim = try await CommitShim(in: laboratory)
        let reference = try await play(nil, shim, server, laboratory)
        #expect(reference.isClean && reference.kills == 0 && reference.commits > 40, "\(reference)")

        let kills = Self.kills(commits: reference.commits)
        let outcomes = try await playAll(kills, shim, server, laboratory)
        for (kill, outcome) in outcomes where !outcome.isClean {
            isKept = true
            Issue.record("killed \(kill.moment) commit \(kill.commit): \(outcome)")
        }
        let killed = outcomes.count { $0.1.kills == 1 }
        let byMoment = CommitShim.Moment.allCases.map { moment in
            "\(outcomes.count { $0.0.moment == moment && $0.1.kills == 1 }) \(moment)"
        }
        print(
            """
            kills at commits at \(kind): \(reference.commits) commits, \(outcomes.count) scenarios, \(killed) of them \
            with a kill (\(byMoment.joined(separator: ", "))), \(outcomes.count { !$0.1.isClean }) not clean, in \
            \(begin.duration(to: .now).components.seconds) s\(isKept ? "; see \(laboratory.directory)" : "")
            """)
        // The number of commits depends on stanzas arriving together: the last commit may not come.
        #expect(killed * 10 >= outcomes.count * 8)
        await server.stop()
    }

    /// The commits to kill at.
    private static func kills(commits: Int) -> [Kill] {
        let moments = CommitShim.Moment.allCases
        if isWhole { return (1...commits).flatMap { commit in moments.map { Kill(commit: commit, moment: $0) } } }
        return stride(from: 3, through: commits, by: 7).enumerated().map { index, commit in
            Kill(commit: commit, moment: moments[index % moments.count])
        }
    }

    /// Four at a time: most of the time each waits.
    private func playAll(
        _ kills: [Kill], _ shim: CommitShim, _ server: any XMPPServer, _ laboratory: Laboratory
    ) async throws -> [(Kill, CommitScenario.Outcome)] {
        try await withThrowingTaskGroup(of: (Kill, CommitScenario.Outcome).self) { group in
            var outcomes: [(Kill, CommitScenario.Outcome)] = []
            for (index, kill) in kills.enumerated() {
                if index >= 4, let outcome = try await group.next() { outcomes.append(outcome) }
                group.addTask { (kill, try await self.play(kill, shim, server, laboratory)) }
            }
            while let outcome = try await group.next() { outcomes.append(outcome) }
            return outcomes
        }
    }

    private func play(
        _ kill: Kill?, _ shim: CommitShim, _ server: any XMPPServer, _ laboratory: Laboratory
    ) async throws -> CommitScenario.Outcome {
        let name = kill.map { "\($0.commit)\($0.moment)" } ?? "0"
        let counter = laboratory.path("commits-" + name)
        let scenario = CommitScenario(
            laboratory: laboratory, server: server, executable: try kalijBinary(), name: name,
            environment: shim.environment(counter: counter, kill: kill?.commit ?? 0, kill?.moment ?? .before),
            counter: counter)
        return try await scenario.play()
    }
}
