/// The place of a message among the results of a search: the second of its time, then its row.
///
/// It is the number of the text in the index, which therefore returns the newest texts first, whatever order they were stored in. The
/// number of an indexed text stays when the time of its message changes.
public struct SearchKey: Comparable, Hashable, Sendable {
    let number: Int64

    private static let rowBits: Int64 = 31
    private static let maxRow: Int64 = 1 << rowBits - 1
    private static let maxSecond: Int64 = 1 << 32 - 1

    init(number: Int64) { self.number = number }

    /// - Parameter time: milliseconds since 1970; times outside of 1970 to 2106 count as the nearest of these.
    /// - Returns: nil for a mailbox message, and for a row after 2^31: they have no place in the index.
    public init?(row: Int64, at time: Int64) {
        guard row > 0, row <= Self.maxRow else { return nil }
        number = Self.first(at: time).number | row
    }

    /// The lower bound of the texts of a second.
    static func first(at time: Int64) -> SearchKey {
        SearchKey(number: min(max(time / 1000, 0), maxSecond) << rowBits)
    }

    /// The row of the message.
    var row: Int64 { number & Self.maxRow }

    public static func < (one: SearchKey, other: SearchKey) -> Bool { one.number < other.number }
}
