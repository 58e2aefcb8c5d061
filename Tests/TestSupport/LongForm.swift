import Foundation

/// The amounts of work of the tests: short ones in `make test`, those of `Scripts/long` in long forms.
///
/// `Scripts/long NAME AMOUNT` sets the variable `KALIJ_LONG` to words such as `room-kills=500 server=prosody seed=17`.
public enum LongForm {
    private static let values: [String: String] = {
        let words = (ProcessInfo.processInfo.environment["KALIJ_LONG"] ?? "").split(separator: " ")
        let pairs = words.map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        return Dictionary(pairs.map { ($0[0], $0.count > 1 ? $0[1] : "") }) { $1 }
    }()

    /// The amount of a long form of this name, if it runs.
    public static func amount(_ name: String) -> Int? { values[name].flatMap { Int($0) } }

    /// The amount of a test: `short` unless the long form of this name runs.
    public static func amount(_ name: String, short: Int) -> Int { amount(name) ?? short }

    /// Whether the long form of this name runs.
    public static func runs(_ name: String) -> Bool { values[name] != nil }

    /// Another choice for the run, such as `server`.
    public static func choice(_ name: String) -> String? { values[name] }

    /// The seed to repeat a run with.
    public static var seed: UInt64? { values["seed"].flatMap { UInt64($0) } }
}
