import Foundation
import Synchronization
import TestSupport

/// The random choices of a test. They come from a seed that is printed; `Scripts/long ... seed=...` repeats them.
final class RandomChoices: Sendable {
    private let random: Mutex<Seeded>

    /// - Parameters:
    ///   - test: whose choices, for the line that is printed.
    ///   - part: tells several from one another that one seed is for.
    init(_ test: String, part: Int = 0) {
        let seed = LongForm.seed ?? .random(in: 0...999_999)
        print("\(test)\(part == 0 ? "" : ", part \(part)"): seed \(seed)")
        random = Mutex(Seeded(seed &+ UInt64(part) &* 0x9E37_79B9))
    }

    func number(_ range: ClosedRange<Int>) -> Int { random.withLock { Int.random(in: range, using: &$0) } }
    func number(_ range: ClosedRange<Double>) -> Double { random.withLock { Double.random(in: range, using: &$0) } }
    func milliseconds(_ range: ClosedRange<Int>) -> Duration { .milliseconds(number(range)) }
    func flip() -> Bool { random.withLock { Bool.random(using: &$0) } }

    func one<Values: Collection>(of values: Values) -> Values.Element? {
        values.isEmpty ? nil : values[values.index(values.startIndex, offsetBy: number(0...values.count - 1))]
    }

    func shuffled<Value>(_ values: [Value]) -> [Value] {
        var values = values
        for index in values.indices.dropFirst() { values.swapAt(index, number(0...index)) }
        return values
    }
}
