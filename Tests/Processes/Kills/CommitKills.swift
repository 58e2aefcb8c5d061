import Foundation

/// The kills of a scenario: each a scenario of its own, in which one commit kills its process.
///
/// `KALIJ_COMMITS=every` kills before, within and after each commit, on both servers; `each` at one of these moments in turn;
/// otherwise some commits of one server are taken, each at one of the moments.
enum CommitKills {
    private static let form = ProcessInfo.processInfo.environment["KALIJ_COMMITS"] ?? ""
    /// Whether every commit is taken, on both servers.
    static let isWhole = ["every", "each"].contains(form)

    struct Kill: Sendable {
        var commit: Int
        var moment: CommitShim.Moment
        var name: String { "\(commit)\(moment)" }
    }

    /// The commits to kill at.
    /// - Parameter every: how many commits there are to a kill in the short form.
    static func kills(commits: Int, every: Int) -> [Kill] {
        let moments = CommitShim.Moment.allCases
        if form == "every" {
            return (1...commits).flatMap { commit in moments.map { Kill(commit: commit, moment: $0) } }
        }
        return stride(from: isWhole ? 1 : 3, through: commits, by: isWhole ? 1 : every).enumerated().map {
            index, commit in
            Kill(commit: commit, moment: moments[index % moments.count])
        }
    }

    /// Four at a time: most of the time each waits.
    static func playAll<Outcome: Sendable>(
        _ kills: [Kill], _ play: @escaping @Sendable (Kill) async throws -> Outcome
    ) async throws -> [(kill: Kill, outcome: Outcome)] {
        try await withThrowingTaskGroup(of: (kill: Kill, outcome: Outcome).self) { group in
            var outcomes: [(kill: Kill, outcome: Outcome)] = []
            for (index, kill) in kills.enumerated() {
                if index >= 4, let outcome = try await group.next() { outcomes.append(outcome) }
                group.addTask { (kill, try await play(kill)) }
            }
            while let outcome = try await group.next() { outcomes.append(outcome) }
            return outcomes
        }
    }

    /// How many scenarios were killed, by moment.
    static func text(_ killed: [Kill]) -> String {
        CommitShim.Moment.allCases.map { moment in "\(killed.count { $0.moment == moment }) \(moment)" }
            .joined(separator: ", ")
    }

    /// The common count of the processes.
    static func commits(in counter: String) -> Int {
        guard let bytes = FileManager.default.contents(atPath: counter), bytes.count == 8 else { return 0 }
        return bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
