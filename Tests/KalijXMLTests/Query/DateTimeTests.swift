import FoundationEssentials
import KalijXML
import Testing

/// Writing dates and times: XEP-0082 in UTC, at most six digits of a fraction, trailing zeros cut.
@Suite struct DateTimeTests {
    @Test(
        "dates and times are written in UTC",
        arguments: [
            ("2002-09-10T23:08:25Z", "2002-09-10T23:08:25Z"), ("1969-07-20T21:56:15-05:00", "1969-07-21T02:56:15Z"),
            ("2002-09-10T23:08:25.500Z", "2002-09-10T23:08:25.5Z"),
            ("2002-09-10T23:08:25.123456789Z", "2002-09-10T23:08:25.123457Z"),
            ("2002-09-10T23:08:25.0000004Z", "2002-09-10T23:08:25Z"),
            ("2002-09-10T23:59:59.9999999Z", "2002-09-11T00:00:00Z"),
            ("1969-12-31T23:59:59.25Z", "1969-12-31T23:59:59.25Z"),
            ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"), ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
            ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"), ("0000-03-01T00:00:00Z", "0000-03-01T00:00:00Z"),
            ("1582-10-04T12:00:00Z", "1582-10-04T12:00:00Z"), ("1000-02-28T00:00:00Z", "1000-02-28T00:00:00Z"),
        ])
    func text(read: String, written: String) throws {
        #expect(DateTime.text(try #require(DateTime.date(read))) == written)
    }

    @Test("no time is too far away to be written")
    func extremes() {
        for seconds in [
            -Double.infinity, -1e300, -1e12, -62_200_000_000, 253_402_300_800, 1e12, 1e300, .infinity, .nan,
        ] {
            let text = DateTime.text(Date(timeIntervalSince1970: seconds))
            #expect(DateTime.date(text) != nil, "\(seconds): \(text)")
        }
    }
}
