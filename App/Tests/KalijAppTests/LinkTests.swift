import KalijClient
import Testing

@testable import KalijApp

@Suite struct LinkTests {
    private func addresses(_ text: String) -> [String] { TextLink.all(in: text.shownText.text).map(\.address) }

    @Test(arguments: [
        ("See https://example.org/a?b=c#d, please", ["https://example.org/a?b=c#d"]),
        ("http://example.org.", ["http://example.org"]),
        ("(https://example.org/wiki/Tree_(graph))", ["https://example.org/wiki/Tree_(graph)"]),
        ("HTTPS://Example.org/Path", ["https://Example.org/Path"]),
        ("https://[2001:db8::1]:8080/x", ["https://[2001:db8::1]:8080/x"]),
        ("„https://example.org/“ and “http://example.net”", ["https://example.org/", "http://example.net"]),
        ("<https://example.org/>", ["https://example.org/"]),
        ("https://example.org/ä–ö", ["https://example.org/%C3%A4%E2%80%93%C3%B6"]),
        ("xmpp:juliet@example.org?message", ["xmpp:juliet@example.org?message"]),
        ("mailto:juliet@example.org?attach=/etc/passwd", ["mailto:juliet@example.org"]),
        ("a:b, ratio 1:2, https:, https://, http:///x, xhttps://example.org", []),
        ("javascript:alert(1) file:///etc/passwd data:text/html,x ftp://example.org", []),
        ("https:example.org mailto:nobody xmpp:", []),
        ("https://exa mple.org", ["https://exa"]),
        ("https://a@b@example.org/", []),
        ("https://example.org%2fevil.example/", []),
    ])
    func `Addresses in a text are links, and nothing else is`(_ text: String, _ expected: [String]) {
        #expect(addresses(text) == expected)
    }

    @Test(arguments: [
        ("*https://example.org/*", "https://example.org/"), ("_https://example.org/_", "https://example.org/"),
        ("~https://example.org/~", "https://example.org/"), ("`https://example.org/`", "https://example.org/"),
        ("> https://example.org/*", "https://example.org/*"), ("https://example.org/a_", "https://example.org/a_"),
    ])
    func `Signs of emphasis around an address are not part of it`(_ text: String, _ address: String) {
        #expect(addresses(text) == [address])
    }

    @Test func `A text with addresses is the same text`() {
        let text = "*a* <b> & _https://example.org/?a=1&b=2_ \"c\""
        let (address, title) = ("https://example.org/?a=1&amp;b=2", "https://example.org/?a=1&amp;amp;b=2")
        #expect(
            TextLink.markup(text, TextLink.all(in: text))
                == "*a* &lt;b&gt; &amp; _<a href=\"\(address)\" title=\"\(title)\">\(address)</a>_ &quot;c&quot;")
        #expect(TextLink.markup("a < b", []) == "a &lt; b")
    }

    @Test(arguments: [
        ("https://аррӏе.com/", "xn--80ak6aa92e.com", TextLink.Doubt.letters),
        ("https://xn--80ak6aa92e.com/", "xn--80ak6aa92e.com", .letters),
        ("https://bank.example@evil.example/", "evil.example", .user),
        ("https://bank.example:80@evil.example", "evil.example", .user),
        ("https://evil.example/א/bank.example", "evil.example", .direction),
        ("https://bank.example%2eevil.example/", "bank.example.evil.example", .letters),
        ("xmpp:juliet@münchen.example", "xn--mnchen-3ya.example", .letters),
        ("mailto:juliet@münchen.example", "xn--mnchen-3ya.example", .letters),
    ])
    func `An address that may lead elsewhere than it seems to says where`(
        _ text: String, _ host: String, _ doubt: TextLink.Doubt
    ) {
        let links = TextLink.all(in: text.shownText.text)
        #expect(links.map(\.host) == [host] && links.map(\.doubt) == [doubt])
        #expect(links.allSatisfy { Words.doubt(doubt, of: $0).contains(host) })
    }

    @Test func `What is opened has the server in ASCII`() {
        #expect(addresses("https://аррӏе.com/x") == ["https://xn--80ak6aa92e.com/x"])
        #expect(TextLink.all(in: "https://example.org/straße").first?.doubt == nil)
    }

    @Test func `A backslash, a hidden character and a control end an address`() {
        #expect(addresses("https://bank.example\\@evil.example") == ["https://bank.example"])
        #expect(addresses("https://bank.example\u{200D}.evil.example") == ["https://bank.example"])
        #expect(addresses("https://bank.example\u{0}.evil.example").isEmpty)
        // Controls of direction are not displayed, and not opened.
        #expect(addresses("https://exa\u{202E}mple.org/\u{2066}a") == ["https://example.org/a"])
    }

    @Test func `Places to break a long address are not in it`() {
        let address = "https://example.org/" + String(repeating: "a", count: 300)
        let shown = address.shownText.text
        #expect(shown != address && addresses(address) == [address])
        #expect(TextLink.all(in: shown).first?.range == 0..<shown.utf8.count)
    }

    @Test func `An address that was cut is none`() {
        let text = String(repeating: "a ", count: 3990) + "https://example.org/" + String(repeating: "b", count: 100)
        let shown = text.shownText
        #expect(shown.isCut && TextLink.all(in: shown.text, isCut: true).isEmpty)
    }

    @Test func `A thousand addresses are fifty links`() {
        let text = String(repeating: "http://a.b ", count: 1000)
        #expect(addresses(text).count == TextLink.most)
        #expect(TextLink.markup(text, TextLink.all(in: text)).contains("http://a.b http://a.b"))
    }

    @Test(arguments: [
        String(repeating: "https://a.b/", count: 90_000), String(repeating: ":", count: 1_000_000),
        "https://a.b/" + String(repeating: ")", count: 1_000_000), String(repeating: "http:", count: 200_000),
        "https://" + String(repeating: "%", count: 1_000_000), String(repeating: "xmpp:\u{301}", count: 100_000),
        "mailto:" + String(repeating: "@", count: 1_000_000), "https://" + String(repeating: "🏳️‍🌈", count: 50_000),
    ])
    func `A million hostile characters take no time`(_ text: String) {
        let took = ContinuousClock().measure {
            let shown = text.shownText
            let links = TextLink.all(in: shown.text, isCut: shown.isCut)
            _ = TextLink.markup(shown.text, links)
            #expect(links.count <= TextLink.most)
        }
        #expect(took < .seconds(1))
    }

    @Test func `A message says that it has links, and a removed one and a file have none`() {
        var row = MessageRow(id: 1, author: "Juliet", isOwn: false, text: "https://example.org", at: 0)
        row.links = TextLink.all(in: row.text)
        #expect(row.spoken("19:15") == "Juliet, 19:15: https://example.org. 1 link")
    }
}
