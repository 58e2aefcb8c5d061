import KalijAddress
import Testing

@Suite("Links: RFC 5122, XEP-0147, XEP-0379, XEP-0401")
struct XMPPURITests {
    @Test("links of the standards")
    func links() throws {
        let account = try #require(XMPPURI("xmpp:juliet@example.com?register;preauth=TOKEN"))
        #expect(account.jid == (try JID("juliet@example.com")))
        #expect((account.action, account.parameters) == ("register", ["preauth": "TOKEN"]))
        let server = try #require(XMPPURI("XMPP:example.com?register;preauth=T"))
        #expect(server.jid.local == nil)
        let contact = try #require(
            XMPPURI("xmpp:romeo@montague.net?roster;preauth=1tMFqYDdKhfe2pwp;name=Romeo%20Montague;ibr=y"))
        #expect(contact.parameters == ["preauth": "1tMFqYDdKhfe2pwp", "name": "Romeo Montague", "ibr": "y"])
        #expect(XMPPURI("xmpp:romeo@montague.net#part")?.action == nil)
        #expect(XMPPURI("xmpp://guest@example.com/support@example.com?message")?.jid.local == "support")
        #expect(XMPPURI("xmpp:n%C3%A9e@example.net")?.jid.local == "née")
        for text in ["née@example.net", "a@b.example/c d/e?#%", "b.example", "a+$@b.example/@&'"] {
            let jid = try JID(text)
            let link = XMPPURI.link(to: jid)
            #expect(XMPPURI(link)?.jid == jid && !link.contains(" ") && link.allSatisfy(\.isASCII))
        }
        #expect(XMPPURI.link(to: try JID("née@example.net/a b")) == "xmpp:n%C3%A9e@example.net/a%20b")
        #expect(XMPPURI("xmpp:a@b.example?register;preauth=1;preauth=2")?.parameters["preauth"] == "1")
    }

    @Test(
        "no links",
        arguments: [
            "", "xmpp:", "https://example.com", "xmpp:?register", "xmpp:a%@b", "xmpp:a%4@b", "xmpp:a%zz@b",
            "xmpp:a%+1@b", "xmpp:%ff@b",
            "xmpp://a", "xmpp:a@b?register;x=%", "xmpp:" + String(repeating: "a", count: 20_000),
        ])
    func others(_ text: String) { #expect(XMPPURI(text) == nil) }
}
