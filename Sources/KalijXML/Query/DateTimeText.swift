#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Dates and times as XEP-0082 writes them.
public enum DateTime {
    /// What four digits of a year can say, in seconds since 1970.
    private static let range = -62_167_219_200.0...253_402_300_799.0

    /// A date and time in UTC: `2002-09-10T23:08:25Z`, with a fraction of at most six digits if there is one. One that
    /// is not in the years 0 to 9999 is written as the nearest that is.
    public static func text(_ date: Date) -> String {
        // In this order, "no number" becomes the first of them.
        let seconds = min(max(range.lowerBound, date.timeIntervalSince1970), range.upperBound)
        let microseconds = (seconds * 1_000_000).rounded()
        let whole = (microseconds / 1_000_000).rounded(.down)
        // The C library goes back with today's calendar, as XML Schema asks; Foundation turns Julian before 1582.
        var (time, fields) = (time_t(whole), tm())
        guard gmtime_r(&time, &fields) != nil else { return "" }
        let day = [digits(fields.tm_year + 1_900, 4), digits(fields.tm_mon + 1, 2), digits(fields.tm_mday, 2)]
        let clock = [digits(fields.tm_hour, 2), digits(fields.tm_min, 2), digits(fields.tm_sec, 2)]
        // In far years a Double is coarser than a microsecond, and the rest could be a little outside.
        // fits: the bounds are in the line
        var fraction = digits(Int32(min(max(microseconds - whole * 1_000_000, 0), 999_999)), 6)
        while fraction.last == "0" { fraction.removeLast() }
        return day.joined(separator: "-") + "T" + clock.joined(separator: ":")
            + (fraction.isEmpty ? "" : "." + fraction)
            + "Z"
    }

    /// The time that a XEP-0082 date and time names; nil if the text is none. What the query language's `datetime`
    /// accepts.
    public static func date(_ text: String) -> Date? { withBytes(of: text, Conversions.date) }

    private static func digits(_ number: Int32, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(count - text.count, 0)) + text
    }
}
