import Testing

@testable import KalijPush

/// Names that may lead to the pages: none that somebody else's page in a browser brings along (DNS rebinding).
struct HostTests {
    private static let settings = HTTPSettings(address: "127.0.0.1", port: 9820, hosts: ["push.example.org"])

    @Test(
        "addresses, localhost and listed names, with any port; or no name at all",
        arguments: [
            nil, "127.0.0.1", "127.0.0.1:9820", "192.0.2.1:80", "localhost", "LOCALHOST:9820", "[::1]", "[::1]:9820",
            "[2001:db8::1]:9820", "push.example.org", "Push.Example.Org:443",
        ])
    func served(_ host: String?) { #expect(Self.settings.serves(host: host)) }

    @Test(
        "no other name",
        arguments: [
            "", "rebound.example", "rebound.example:9820", "push.example.org.rebound.example",
            "127.0.0.1.rebound.example", "localhost.rebound.example", "[::1", "[rebound.example]", "[]",
            "local\u{301}host", "localhost\u{301}", " localhost",
        ])
    func refused(_ host: String) { #expect(!Self.settings.serves(host: host)) }
}
