/// Random numbers, the same for the same seed (splitmix64).
public struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    public init(_ seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
    mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
    mutating func pick(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &self) }

    /// A choice out of `choices`, with the probability of its weight.
    mutating func pick<Choice>(weighted choices: [(Int, Choice)]) -> Choice {
        var rest = Int.random(in: 0..<choices.reduce(0) { $0 + $1.0 }, using: &self)
        for (weight, choice) in choices {
            if rest < weight { return choice }
            rest -= weight
        }
        return choices[0].1
    }
}
