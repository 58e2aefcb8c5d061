import CNghttp2
import Glibc

extension HTTPResponse {
    /// How many seconds to wait before the next request (RFC 9110, 10.2.3); nil if the response does not specify it.
    ///
    /// A date counts from the response's own `Date`, so a wrong clock on this machine does not matter.
    /// - Parameter now: seconds since 1970, for a response without a `Date`.
    public func retryAfter(now: Int64) -> Int64? {
        guard let value = self["retry-after"] else { return nil }
        if let seconds = Int64(value) { return seconds < 0 ? nil : seconds }
        guard let date = Self.seconds(of: value) else { return nil }
        let (wait, isTooLong) = date.subtractingReportingOverflow(self["date"].flatMap(Self.seconds) ?? now)
        return isTooLong ? nil : max(0, wait)
    }

    /// The three forms of a date (RFC 9110, 5.6.7), the usual form first.
    private static let forms = ["%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"]

    private static func seconds(of date: String) -> Int64? {
        for form in forms {
            var fields = tm()
            // Points after the last read character of the lent text: the whole text has to be read.
            let isDate = date.withCString { text in kalij_strptime(text, form, &fields).map { $0.pointee == 0 } ?? false
            }
            if isDate { return Int64(timegm(&fields)) }
        }
        return nil
    }
}
