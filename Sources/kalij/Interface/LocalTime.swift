import Glibc
import KalijXML

import FoundationEssentials

/// A day or a time on the command line.
enum LocalTime {
    /// The time given for the option `name`, in milliseconds since 1970; nil if missing.
    static func of(_ arguments: Arguments, _ name: String) throws -> Int64? {
        guard let text = arguments.value(name) else { return nil }
        if let date = DateTime.date(text) { return Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded()) }
        for rest in ["T00:00:00Z", ":00Z", "Z"] {
            if let date = DateTime.date(text + rest) { return try local(date) }
        }
        throw Failure(.usage, "\(name) takes a day as 2026-11-21 or a time as 2026-11-21T18:30, not \"\(text)\"")
    }

    /// The time at which the local clock shows what a UTC clock shows at `date`, in milliseconds since 1970.
    private static func local(_ date: Date) throws -> Int64 {
        var (seconds, parts) = (time_t(date.timeIntervalSince1970), tm())  // fits: a year has four digits
        gmtime_r(&seconds, &parts)
        parts.tm_isdst = -1
        return Int64(mktime(&parts)) * 1000  // fits: as above
    }
}
