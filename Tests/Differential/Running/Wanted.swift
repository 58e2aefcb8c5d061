import Foundation
import TestSupport
import Testing

/// The settings of the environment: `SEED` to repeat a run, `CASES` for another number of cases, `STREAM` for a
/// recorded stream.
enum Wanted {
    /// The seed of this run: a new seed for each run unless `SEED` is set.
    static let seed: UInt64 =
        number("SEED").map { UInt64(bitPattern: Int64($0)) } ?? UInt64.random(in: 0..<1_000_000_000)

    static func cases(_ usual: Int) -> Int { max(number("CASES") ?? usual, 100) }

    static var stream: String? { ProcessInfo.processInfo.environment["STREAM"] }

    private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }
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
        "\(wrong.count) wrong, SEED=\(Wanted.seed) repeats it:\n\(shown)", sourceLocation: sourceLocation)
}
