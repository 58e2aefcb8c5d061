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

extension Conversions {
    /// A date and time as in XEP-0082: `2002-09-10T23:08:25.123Z`, with a fraction of any length and `Z` or an offset.
    /// Also `+0200` without a colon, and the second 60.
    static func date(_ bytes: UnsafeRawBufferPointer) -> Date? {
        var reader = DigitReader(bytes: trimmed(bytes))
        guard let year = reader.number(4), reader.take("-"), let month = reader.number(2), reader.take("-"),
            let day = reader.number(2), reader.take("T") || reader.take("t"), let hour = reader.number(2),
            reader.take(":"), let minute = reader.number(2), reader.take(":"), let second = reader.number(2)
        else { return nil }
        guard let fraction = reader.fraction(), let offset = reader.offset(), reader.bytes.isEmpty else { return nil }
        guard hour < 24, minute < 60, second <= 60, let days = secondsOfDay(year, month, day) else { return nil }
        let whole = days + hour * 3_600 + minute * 60 + second - offset
        return Date(timeIntervalSince1970: Double(whole) + fraction)
    }

    /// The begin of a day in seconds since 1970, nil if there is no such day. The C library knows the calendar.
    private static func secondsOfDay(_ year: Int, _ month: Int, _ day: Int) -> Int? {
        var fields = tm()
        fields.tm_year = Int32(year - 1_900)  // fits: four digits
        fields.tm_mon = Int32(month - 1)  // fits: two digits
        fields.tm_mday = Int32(day)  // fits: two digits
        let seconds = timegm(&fields)
        guard fields.tm_mon == month - 1, fields.tm_mday == day, fields.tm_year == year - 1_900 else { return nil }
        return seconds
    }
}

private struct DigitReader {
    var bytes: Slice<UnsafeRawBufferPointer>

    mutating func take(_ character: Character) -> Bool {
        guard bytes.first == character.asciiValue else { return false }
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
        guard take(".") else { return 0 }
        let digits = bytes.prefix(while: Conversions.isDigit)
        guard !digits.isEmpty else { return nil }
        bytes = bytes.dropFirst(digits.count)
        return Double("0." + String(decoding: digits.prefix(18), as: UTF8.self))
    }

    /// The offset from UTC in seconds.
    mutating func offset() -> Int? {
        if take("Z") || take("z") { return 0 }
        let sign: Int
        if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
        guard let hours = number(2) else { return nil }
        _ = take(":")
        guard let minutes = number(2), hours < 24, minutes < 60 else { return nil }
        return sign * (hours * 3_600 + minutes * 60)
    }
}
