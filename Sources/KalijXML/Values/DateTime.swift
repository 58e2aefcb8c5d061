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

/// Dates and times of XEP-0082.
public enum DateTime {
    /// The range of years with four digits, in seconds since 1970.
    private static let range = -62_167_219_200.0...253_402_300_799.0

    /// A date and time in UTC: `2002-09-10T23:08:25Z`, with a fraction of at most six digits if there is one. A date
    /// outside the years 0 to 9999 is written as the nearest date inside.
    public static func text(_ date: Date) -> String {
        // In this order of arguments, "no number" becomes the lower bound.
        let seconds = min(max(range.lowerBound, date.timeIntervalSince1970), range.upperBound)
        let microseconds = (seconds * 1_000_000).rounded()
        let whole = (microseconds / 1_000_000).rounded(.down)
        // The C library extends today's calendar to the past, as XML Schema requires; Foundation turns Julian before 1582.
        var (time, fields) = (time_t(whole), tm())
        guard gmtime_r(&time, &fields) != nil else { return "" }
        // In far years a Double is coarser than a microsecond, and the rest could be a little outside.
        // fits: the bounds are in the line
        let fraction = Int32(min(max(microseconds - whole * 1_000_000, 0), 999_999))
        return text(of: fields, fraction)
    }

    private static func text(of fields: tm, _ microseconds: Int32) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(27)
        append(fields.tm_year + 1_900, 4, to: &text)
        append(fields.tm_mon + 1, 2, behind: "-", to: &text)
        append(fields.tm_mday, 2, behind: "-", to: &text)
        append(fields.tm_hour, 2, behind: "T", to: &text)
        append(fields.tm_min, 2, behind: ":", to: &text)
        append(fields.tm_sec, 2, behind: ":", to: &text)
        if microseconds > 0 {
            append(microseconds, 6, behind: ".", to: &text)
            while text.last == UInt8(ascii: "0") { text.removeLast() }
        }
        text.append(UInt8(ascii: "Z"))
        return String(decoding: text, as: UTF8.self)
    }

    /// The time of a XEP-0082 date and time; nil for any other text. Accepts the same as the query language's
    /// `datetime`.
    public static func date(_ text: String) -> Date? { withBytes(of: text, Conversions.date) }

    /// Appends a number of at most so many digits.
    private static func append(
        _ number: Int32, _ digits: Int, behind mark: Unicode.Scalar? = nil, to text: inout [UInt8]
    ) {
        if let mark { text.append(UInt8(ascii: mark)) }
        var place = digits == 6 ? Int32(100_000) : digits == 4 ? 1_000 : 10
        while place > 0 {
            text.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: number / place % 10))
            place /= 10
        }
    }
}

extension Conversions {
    /// A date and time as in XEP-0082: `2002-09-10T23:08:25.123Z`, with a fraction of any length and `Z` or an offset.
    /// Also `+0200` without a colon, and the second 60.
    static func date(_ bytes: UnsafeRawBufferPointer) -> Date? {
        var reader = DigitReader(bytes: trimmed(bytes))
        guard let year = reader.number(4), reader.consume("-"), let month = reader.number(2), reader.consume("-"),
            let day = reader.number(2), reader.consume("T") || reader.consume("t"), let hour = reader.number(2),
            reader.consume(":"), let minute = reader.number(2), reader.consume(":"), let second = reader.number(2)
        else { return nil }
        guard let fraction = reader.fraction(), let offset = reader.offset(), reader.bytes.isEmpty else { return nil }
        guard hour < 24, minute < 60, second <= 60, let days = secondsOfDay(year, month, day) else { return nil }
        let whole = days + hour * 3_600 + minute * 60 + second - offset
        return Date(timeIntervalSince1970: Double(whole) + fraction)
    }

    /// The beginning of a day in seconds since 1970, nil if there is no such day; today's calendar is extended to the past.
    private static func secondsOfDay(_ year: Int, _ month: Int, _ day: Int) -> Int? {
        guard (1...12).contains(month), day >= 1, day <= days(year, month) else { return nil }
        // Years begin in March, so that the day of a leap year is the last, and are counted from the year -400.
        let years = (month > 2 ? year : year - 1) + 400
        let leapDays = years / 4 - years / 100 + years / 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return (years * 365 + leapDays + dayOfYear - 865_565) * 86_400
    }

    private static func days(_ year: Int, _ month: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

private struct DigitReader {
    var bytes: Slice<UnsafeRawBufferPointer>

    mutating func consume(_ scalar: Unicode.Scalar) -> Bool {
        guard bytes.first.map({ Unicode.Scalar($0) }) == scalar else { return false }
        bytes = bytes.dropFirst()
        return true
    }

    mutating func number(_ digits: Int) -> Int? {
        let text = bytes.prefix(digits)
        guard text.count == digits, text.allSatisfy(Conversions.isDigit) else { return nil }
        bytes = bytes.dropFirst(digits)
        return text.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    mutating func fraction() -> Double? {
        guard consume(".") else { return 0 }
        let digits = bytes.prefix(while: Conversions.isDigit)
        guard !digits.isEmpty else { return nil }
        bytes = bytes.dropFirst(digits.count)
        return Double("0." + String(decoding: digits.prefix(18), as: UTF8.self))
    }

    /// The offset from UTC in seconds.
    mutating func offset() -> Int? {
        if consume("Z") || consume("z") { return 0 }
        let sign: Int
        if consume("+") { sign = 1 } else if consume("-") { sign = -1 } else { return nil }
        guard let hours = number(2) else { return nil }
        _ = consume(":")
        guard let minutes = number(2), hours < 24, minutes < 60 else { return nil }
        return sign * (hours * 3_600 + minutes * 60)
    }
}
