#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Dates and times as XEP-0082 writes them.
public enum DateTime {
    /// A date and time in UTC: `2002-09-10T23:08:25Z`, with a fraction of at most six digits if there is one.
    public static func text(_ date: Date) -> String {
        let microseconds = (date.timeIntervalSince1970 * 1_000_000).rounded()
        let whole = (microseconds / 1_000_000).rounded(.down)
        var text = Date(timeIntervalSince1970: whole).formatted(.iso8601)
        let rest = Int(microseconds - whole * 1_000_000)
        guard rest > 0 else { return text }
        var digits = String(String(rest + 1_000_000).dropFirst())
        while digits.last == "0" { digits.removeLast() }
        text.removeLast()
        return text + "." + digits + "Z"
    }

    /// The time that a XEP-0082 date and time names; nil if the text is none. What the query language's `datetime`
    /// accepts.
    public static func date(_ text: String) -> Date? { withBytes(of: text, Conversions.date) }
}
