import Foundation
import KalijLab
import TestSupport
import Testing

/// The kills of a scenario: each a scenario of its own, in which one commit kills its process.
///
/// The short form takes some commits at one server, the moments in turn. The long form takes every commit at both servers, and its amount
/// is the number of moments at each commit: 1, in turn, or 3.
struct CommitKills {
    struct Kill: Sendable {
        var commit: Int
        var moment: CommitShim.Moment
        var name: String { "\(commit)\(moment)" }
    }

    /// The name of the long form.
    let form: String

    /// The servers of a scenario.
    static func servers(_ form: String) -> [ServerKind] {
        LongForm.runs(form) ? LongForm.servers : [.prosody]
    }

    /// The commits to kill at.
    /// - Parameters:
    ///   - commits: how many the scenario has.
    ///   - short: how many kills the short form has, each in a part of its own of the scenario.
    func kills(commits: Int, short: Int) -> [Kill] {
        let moments = CommitShim.Moment.allCases
        switch LongForm.amount(form) {
        case let amount? where amount >= moments.count:
            return (1...commits).flatMap { commit in moments.map { Kill(commit: commit, moment: $0) } }
        case _?: return (1...commits).map { Kill(commit: $0, moment: moments[$0 % moments.count]) }
        case nil:
            let (random, part) = (RandomChoices(form), commits / short)
            return (0..<short).map { number in
                Kill(commit: number * part + random.number(1...part), moment: moments[number % moments.count])
            }
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

    /// The number of commits depends on how many stanzas arrive together: the last commits may not come, but those of the first half do, with
    /// each moment among them.
    static func expectEnough(_ killed: [Kill], of scenarios: Int) {
        #expect(Set(killed.map(\.moment)).count == CommitShim.Moment.allCases.count, "\(text(killed))")
        #expect(killed.count * 2 >= scenarios, "\(killed.count) of \(scenarios)")
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
