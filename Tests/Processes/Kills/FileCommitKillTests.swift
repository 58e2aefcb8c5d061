import Foundation
import KalijLab
import Testing

/// "A file accepted once arrives once: a process killed at every commit in turn." See ``CommitKills``.
///
/// `Scripts/long file-commit-kills 1` kills at each commit, at one of the moments in turn.
@Suite(.serialized) struct FileCommitKillTests {
    @Test(
        "killed at any commit with files: each file is there once, whole, and its text behind it",
        arguments: CommitKills.servers("file-commit-kills"))
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

        let kills = CommitKills(form: "file-commit-kills").kills(commits: reference.commits, short: 6)
        let outcomes = try await CommitKills.playAll(kills) { try await play($0, shim, server, laboratory) }
        for (kill, outcome) in outcomes where !outcome.isClean {
            isKept = true
            Issue.record("\(kind): killed \(kill.moment) commit \(kill.commit): \(outcome)")
        }
        let killed = outcomes.filter { $0.outcome.kills == 1 }.map(\.kill)
        print(
            """
            kills at commits with files at \(kind): \(reference.commits) commits, \(outcomes.count) scenarios, \
            \(killed.count) of them with a kill (\(CommitKills.text(killed))), \
            \(outcomes.reduce(0) { $0 + $1.outcome.whole }) whole files announced, \
            \(outcomes.reduce(0) { $0 + $1.outcome.second }) second copies, \
            \(outcomes.count { !$0.outcome.isClean }) not clean, in \(begin.duration(to: .now).components.seconds) s\
            \(isKept ? "; see \(laboratory.directory)" : "")
            """)
        CommitKills.expectEnough(killed, of: outcomes.count)
        await server.stop()
    }

    private func play(
        _ kill: CommitKills.Kill?, _ shim: CommitShim, _ server: any XMPPServer, _ laboratory: Laboratory
    ) async throws -> FileCommitScenario.Outcome {
        let name = kill?.name ?? "0"
        let counter = laboratory.path("commits-" + name)
        let scenario = FileCommitScenario(
            laboratory: laboratory, server: server, executable: try kalijBinary(), name: name,
            environment: shim.environment(counter: counter, kill: kill?.commit ?? 0, kill?.moment ?? .before),
            counter: counter)
        return try await scenario.play()
    }
}
