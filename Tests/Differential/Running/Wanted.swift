import Foundation
import TestSupport
import Testing

/// What the long form `Scripts/long differential 1000000 seed=... stream=FILE` chooses: the number of cases, the seed to repeat a run,
/// a recorded stream.
enum Wanted {
    static let seed = RandomInput.freshSeed("the differential tests")

    /// As many cases as the long form asks for, of those of `usual` kinds.
    static func cases(_ short: Int, of most: Int) -> Int {
        guard let wanted = LongForm.amount("differential") else { return short }
        return max(wanted * most / 100_000, short)
    }

    static var stream: String? { LongForm.choice("stream") }
}

/// Runs the parts of a test side by side, one for each core of a usual machine.
func sideBySide<Value: Sendable>(
    _ count: Int, parts: Int = 2, _ body: @escaping @Sendable (_ part: Int, _ count: Int) async throws -> Value
) async throws -> [Value] {
    try await withThrowingTaskGroup(of: (Int, Value).self) { group in
        for part in 0..<parts {
            let share = count / parts + (part < count % parts ? 1 : 0)
            group.addTask { (part, try await body(part, share)) }
        }
        var results: [(Int, Value)] = []
        for try await result in group { results.append(result) }
        return results.sorted { $0.0 < $1.0 }.map(\.1)
    }
}

/// Fails the test if anything is wrong, and shows the first few of perhaps thousands.
func expectNothing(_ wrong: [String], sourceLocation: SourceLocation = #_sourceLocation) {
    if wrong.isEmpty { return }
    let shown = wrong.prefix(4).map { String($0.prefix(2_000)) }.joined(separator: "\n\n")
    Issue.record(
        "\(wrong.count) wrong, seed=\(Wanted.seed) repeats it:\n\(shown)", sourceLocation: sourceLocation)
}
