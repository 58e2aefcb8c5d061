import Foundation
import Testing

/// SplitMix64, so that a failure can be repeated from its seed.
struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// A number from 0 to `bound - 1`. The tiny bias of the remainder does not matter here.
    mutating func below(_ bound: Int) -> Int { Int(next() >> 33) % bound }

    /// True in `percent` of a hundred cases.
    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    /// One of them.
    mutating func pick<Values: RandomAccessCollection>(_ values: Values) -> Values.Element {
        values[values.index(values.startIndex, offsetBy: below(values.count))]
    }
}

/// What the environment asks for: `SEED` to repeat a run, `CASES` for another number of cases, `STREAM` for a recorded
/// stream.
enum Wanted {
    /// The seed of this run: another with every run unless `SEED` is set.
    static let seed: UInt64 =
        number("SEED").map { UInt64(bitPattern: Int64($0)) } ?? UInt64.random(in: 0..<1_000_000_000)

    static func cases(_ usual: Int) -> Int { max(number("CASES") ?? usual, 100) }

    static var stream: String? { ProcessInfo.processInfo.environment["STREAM"] }

    private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }
}

/// Runs the parts of a test side by side, one for each core that is usual.
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

/// Fails the test if anything is wrong, and shows the first few of what may be thousands.
func expectNothing(_ wrong: [String], sourceLocation: SourceLocation = #_sourceLocation) {
    if wrong.isEmpty { return }
    let shown = wrong.prefix(4).map { String($0.prefix(2_000)) }.joined(separator: "\n\n")
    Issue.record(
        "\(wrong.count) wrong, SEED=\(Wanted.seed) repeats it:\n\(shown)", sourceLocation: sourceLocation)
}
