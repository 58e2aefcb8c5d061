/// The amounts of random and exhaustive input, and its seeds.
///
/// `Scripts/long random-input 10` makes ten times as many rounds in each random test of the modules, from other seeds, and leaves
/// out nothing of what can be enumerated.
public enum RandomInput {
    /// Whether the long form runs.
    public static let isLong = LongForm.runs("random-input")

    /// The rounds of a test: `short` in `make test`.
    public static func rounds(_ short: Int) -> Int { short * max(LongForm.amount("random-input", short: 1), 1) }

    /// The seed of a test that has a `usual` seed in `make test`; the long form adds its own.
    public static func seed(_ usual: UInt64) -> UInt64 { usual &+ base }

    /// The seed of a test whose input is new each time, printed.
    public static func freshSeed(_ name: String) -> UInt64 {
        let seed = LongForm.seed ?? .random(in: 1...1_000_000_000)
        print("random input of \(name): seed=\(seed)")
        return seed
    }

    private static let base: UInt64 = LongForm.seed ?? (isLong ? freshSeed("the long form") : 0)
}
