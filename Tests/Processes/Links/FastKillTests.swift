import Foundation
import KalijLab
import TestSupport
import Testing

/// Logins by tokens (XEP-0484) under kills at every commit: no token is lost, and no count is used twice.
///
/// `Scripts/long fast-kills 500` is the long form: so many kills at each server.
@Suite(.serialized) struct FastKillTests {
    @Test(
        "killed at each commit of a login in turn: the token or the next one works, no password is needed, no count leaves twice, and a recorded login is refused"
    )
    func killed() async throws {
        guard let newer = newerServers(leavingOut: "kills of logins by a token") else { return }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for kind in LongForm.servers {
                group.addTask { try await FastKills(kind, newer).run(LongForm.amount("fast-kills", short: 10)) }
            }
            try await group.waitForAll()
        }
    }
}

/// Alice's processes at one server.
private struct FastKills {
    private let kind: ServerKind
    private let laboratory: Laboratory
    private let server: any XMPPServer
    private let kalij: Kalij
    /// Sends what comes after everything that a login brings.
    private let bob: Running
    private let log: FlightLog
    private let shim: CommitShim

    init(_ kind: ServerKind, _ release: DebianRelease) async throws {
        self.kind = kind
        var options = ServerOptions()
        (options.release, options.oneFlight) = (release, true)
        laboratory = try Laboratory()
        server = try await startedServer(kind, in: laboratory, options: options)
        kalij = try Kalij(data: laboratory.path("alice"))
        let other = try Kalij(data: laboratory.path("bob"))
        #expect(try other.login(server, as: "bob@localhost").status == 0)
        bob = try other.running()
        (log, shim) = (try await FlightLog(in: laboratory), try await CommitShim(in: laboratory))
    }

    func run(_ kills: Int) async throws {
        defer { laboratory.close() }
        #expect(try kalij.login(server).status == 0)
        // By steps; by the password, with a token asked for; by the token.
        for _ in 0..<3 { #expect(try await life(nil).isOnline) }
        let commits = try await life(nil).commits
        #expect(commits > 3, "\(kind)")
        var lives: [Life] = []
        for number in 0..<kills {
            if number % 3 == 0 { try await age() }
            // All commits at all moments in turn; a few are spread over the login.
            let moments = CommitShim.Moment.allCases
            let moment = moments[(number % commits + number / commits) % moments.count]
            lives.append(try await life(CommitKills.Kill(commit: number * 7 % commits + 1, moment: moment)))
        }
        #expect(try await life(nil).isOnline, "\(kind): after the last kill")
        let report = try await log.report()
        print(
            "\(kind): \(commits) commits in a login, \(lives.count { $0.isKilled }) kills, \(report.byToken) logins by \(report.used) tokens of \(report.tokens), \(report.logins)"
        )
        #expect(lives.allSatisfy { !$0.isRefused }, "\(kind): a login was refused")
        #expect(lives.allSatisfy { $0.isKilled || $0.isOnline }, "\(kind): neither killed nor online")
        #expect(lives.count { $0.isKilled } * 10 >= kills * 8, "\(kind): the last commits may not come")
        judge(report, kills)
        try await forget(report)
        let answer = try await log.replay(to: server)
        #expect(
            answer.contains("<failure") && answer.contains("not-authorized") && !answer.contains("<success"),
            "\(kind): a recorded login: \(answer)")
    }

    /// The tokens end in a day, so that a new one is asked for. Prosody gives one at each resume, ejabberd 24.12 none to a token
    /// younger than 1,000 s.
    private func age() async throws {
        let tomorrow = Int64(Date().timeIntervalSince1970 + 86_400) * 1000
        try await change("expiry = min(expiry, \(tomorrow))")
    }

    private func change(_ what: String) async throws {
        let words = ["-batch", "-cmd", ".timeout 10000", kalij.data + "/kalij.db", "UPDATE login_token SET \(what)"]
        try await laboratory.run("/usr/bin/sqlite3", words)
    }

    /// The server knows the tokens no more: the password goes on in the same connection, and resumes the session.
    private func forget(_ before: FlightLog.Report) async throws {
        try await change("token = 'forgotten' || number")
        let life = try await life(nil)
        let after = try await log.report()
        #expect(life.isResumed, "\(kind): tokens were forgotten")
        #expect(
            after.connections == before.connections + 1,
            "\(kind): \(after.connections - before.connections) connections")
        #expect(after.byPassword == before.byPassword + 1, "\(kind): \(after.logins)")
        let next = try await self.life(nil)
        let last = try await log.report()
        #expect(next.isResumed && last.byPassword == after.byPassword, "\(kind): by a new token: \(last.logins)")
    }

    private func judge(_ report: FlightLog.Report, _ kills: Int) {
        #expect(report.twice.isEmpty, "\(kind): counts used twice: \(report.twice)")
        #expect(report.unknown == 0, "\(kind): proofs of no token: \(report.unknown)")
        #expect(report.passwords == 0)
        let mechanisms = report.logins.keys.filter { $0.hasPrefix("HT-") }
        #expect(Set(mechanisms) == ["HT-SHA-256-EXPR"], "\(kind): \(report.logins)")
        #expect(report.tokens > 1 && (kills < 100 || report.used > 1), "\(kind): tokens are renewed")
        // The first login is by the password. Half of a login's commits come before anything leaves.
        #expect(report.byPassword <= 3, "\(kind): the password was needed: \(report.logins)")
        #expect(report.byToken * 3 >= kills, "\(kind): \(report.byToken) logins by a token in \(kills) kills")
    }

    /// How a process fared.
    private struct Life {
        var commits = 0
        var isKilled = false
        var isOnline = false
        var isResumed = false
        var isRefused = false
    }

    /// A process from its start to its kill by a commit, or, if that does not come, until a message comes that was sent when it was online.
    private func life(_ kill: CommitKills.Kill?) async throws -> Life {
        let counter = laboratory.path("commits")
        try? FileManager.default.removeItem(atPath: counter)
        let run = try Running(
            kalij.launch(["--json", "run"], environment: log.environment(shim, counter: counter, kill)))
        var life = Life()
        _ = try await until(every: 20) { try !run.isRunning || run.says("online") || run.says("refused") }
        if run.isRunning {
            let body = UUID().uuidString
            try bob.process.write(line: #"{"command": "send", "to": "alice@localhost", "body": "\#(body)"}"#)
            _ = try await until(every: 20) { try !run.isRunning || run.bodies().contains(body) }
        }
        life.isKilled = !run.isRunning
        _ = run.end(SIGKILL)
        life.commits = CommitKills.commits(in: counter)
        life.isResumed = try run.events().contains {
            $0["event"] as? String == "online" && $0["resumed"] as? Bool == true
        }
        let events = try run.events().compactMap { $0["event"] as? String }
        life.isOnline = events.contains("online")
        life.isRefused = events.contains("refused")
        return life
    }
}
