import Testing

@testable import KalijTransfer

@Suite("URLs")
struct URLTests {
    @Test("https with a host; the fragment, which may be a key, is left out")
    func good() throws {
        let url = try TransferURL("HTTPS://Files.Example:8443/a%20b/c?d=e#0123abcd")
        #expect(url.text == "https://Files.Example:8443/a%20b/c?d=e")
        #expect(url.host == "files.example")
        #expect(try TransferURL("https://[2001:DB8::1]/x").host == "[2001:db8::1]")
        #expect(try TransferURL("https://files.example/ä b").text == "https://files.example/%c3%a4%20b")
        // Whoever writes an address in a strange form means that address.
        #expect(try TransferURL("https://0x7f.1/").host == "127.0.0.1")
    }

    @Test(
        "Anything else is refused",
        arguments: [
            "", "x", "/x", "http://files.example/", "ftp://files.example/", "file:///etc/passwd", "https://",
            "https://user@files.example/", "https://user:password@files.example/", "https://:p@files.example/",
            "https://files.example:99999/", "https://files.example/\r\nX: y", "https://files.example/\u{0}",
            "https://files.example\u{0}.evil.example/", "aesgcm://files.example/x#00", "https://fi les.example/",
            "https://files.example/" + String(repeating: "x", count: 9000),
        ])
    func bad(_ text: String) {
        #expect(throws: TransferFailure(.invalidRequest, "")) { try TransferURL(text) }
    }

    private func head(_ status: Int, _ location: String?) -> ResponseHead {
        ResponseHead(status: status, fields: location.map { [HeaderField("location", $0)] } ?? [], contentLength: 0)
    }

    @Test("Redirects are followed by reference, three times, and give fields to the same host alone")
    func redirects() throws {
        var redirects = Redirects()
        let first = TransferRequest(
            .get, url: "https://a.example/x/y", fields: [HeaderField("Cookie", "z")], ownHosts: ["a.example"])
        let second = try #require(try redirects.next(after: first, head(302, "../z")))
        #expect(second.url == "https://a.example/z")
        #expect(second.fields == first.fields)
        let third = try #require(try redirects.next(after: second, head(307, "//b.example/w")))
        #expect(third.url == "https://b.example/w")
        #expect(third.fields.isEmpty)
        #expect(third.ownHosts == ["a.example"])
        let none = try redirects.next(after: third, head(200, "https://c.example/"))
        #expect(none == nil)
        let fourth = try redirects.next(after: third, head(308, "https://c.example/"))
        #expect(fourth != nil)
        #expect(throws: TransferFailure(.redirect, "")) { try redirects.next(after: third, head(301, "/")) }
    }

    @Test(
        "Redirects elsewhere than to https are errors",
        arguments: ["http://a.example/", "file:///etc/passwd", "https://u@a.example/", "javascript:x", nil])
    func badRedirects(_ location: String?) {
        var redirects = Redirects()
        let request = TransferRequest(.get, url: "https://a.example/")
        #expect(throws: TransferFailure(.redirect, "")) { try redirects.next(after: request, head(302, location)) }
        #expect(redirects.count == 0)
    }

    @Test("A PUT is not sent on")
    func put() throws {
        var redirects = Redirects()
        let request = TransferRequest(.put, url: "https://a.example/")
        let next = try redirects.next(after: request, head(307, "https://b.example/"))
        #expect(next == nil)
    }
}
