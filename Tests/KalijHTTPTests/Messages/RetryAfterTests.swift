import KalijHTTP
import Testing

@Suite("Retry-After (RFC 9110, 10.2.3)")
struct RetryAfterTests {
    private func wait(_ value: String, date: String? = nil) -> Int64? {
        let fields = [HTTPField("retry-after", value)] + (date.map { [HTTPField("date", $0)] } ?? [])
        return HTTPResponse(status: 429, fields: fields).retryAfter(now: 784_111_777)
    }

    @Test("seconds, or a date in any of its three forms (5.6.7)")
    func forms() {
        #expect(wait("120") == 120)
        #expect(wait("Sun, 06 Nov 1994 08:51:37 GMT") == 120)
        #expect(wait("Sunday, 06-Nov-94 08:51:37 GMT") == 120)
        #expect(wait("Sun Nov  6 08:51:37 1994") == 120)
        #expect(HTTPResponse(status: 429).retryAfter(now: 0) == nil)
    }

    @Test("a date counts from the response's own Date: our clock may be wrong")
    func clock() {
        let date = "Fri, 31 Dec 1999 23:59:59 GMT"
        #expect(wait("Sat, 01 Jan 2000 00:00:59 GMT", date: date) == 60)
        #expect(wait("Fri, 31 Dec 1999 23:00:00 GMT", date: date) == 0)
    }

    @Test(
        "any other value is none",
        arguments: ["", "soon", "-1", "1.5", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:51:37 GMT+1"])
    func neither(value: String) { #expect(wait(value) == nil) }
}
