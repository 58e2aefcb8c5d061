/// When the outcome of a change is read: often at first, until ten minutes have passed.
public enum ChangePace {
    public static let intervals = soon + Array(repeating: .seconds(2), count: 290)

    /// The first of these intervals, 22 s.
    public static let soon: [Duration] =
        Array(repeating: .milliseconds(25), count: 80) + Array(repeating: .milliseconds(250), count: 80)
}
