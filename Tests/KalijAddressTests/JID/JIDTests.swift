import Foundation
import KalijAddress
import Testing

@Suite("Addresses")
struct JIDTests {
    @Test("RFC 7622, 3.1: the parts of an address")
    func parts() throws {
        let full = try JID("romeo@example.org/balcony/left@night")
        #expect(full.local == "romeo")
        #expect(full.domain == "example.org")
        #expect(full.resource == "balcony/left@night")
        #expect(!full.isBare && full.isPrepared)
        #expect(full.description == "romeo@example.org/balcony/left@night")
        #expect(full.bare == (try JID("romeo@example.org")))
        #expect(full.bare.isBare && full.bare.bare == full.bare)
        let host = try JID("example.org/x")
        #expect(host.local == nil && host.domain == "example.org" && host.resource == "x")
    }

    @Test("two spellings of one address are equal")
    func spellings() throws {
        #expect(try JID("Romeo@EXAMPLE.org/Balcony") == JID("romeo@example.org/Balcony"))
        #expect(try JID("romeo@example.org/balcony") != JID("romeo@example.org/Balcony"))
        #expect(try JID("user@bücher.example") == JID("USER@BU\u{308}CHER.example"))
        #expect(try JID("user@example.org.") == JID("user@example.org"))
        #expect(try JID("user@例え。テスト") == JID("user@例え.テスト"))
        #expect(try JID("user@ｅｘａｍｐｌｅ．org") == JID("user@example.org"))
        #expect(Set([try JID("A@b"), try JID("a@B")]).count == 1)
    }

    @Test("put together from parts")
    func fromParts() throws {
        let jid = try JID(local: "Romeo", domain: "Example.org", resource: "a/b@c")
        #expect(jid == (try JID("romeo@example.org/a/b@c")))
        #expect(jid.resource == "a/b@c")
        #expect(throws: JIDError.self) { try JID(local: "a@b", domain: "c", resource: nil) }
        #expect(throws: JIDError.self) { try JID(local: nil, domain: "a@b", resource: nil) }
        #expect(throws: JIDError.self) { try JID(local: nil, domain: "a/b", resource: nil) }
        #expect(throws: JIDError.self) { try JID(local: "", domain: "b", resource: nil) }
    }

    @Test("another resource")
    func withResource() throws {
        let jid = try JID("romeo@example.org/balcony")
        #expect(try jid.with(resource: "Ｘ") == JID("romeo@example.org/X"))
        #expect(try jid.with(resource: nil) == jid.bare)
        #expect(throws: JIDError.self) { try jid.with(resource: "") }
        #expect(throws: JIDError.self) { try JID.received("a b@c/d").with(resource: "e") }
    }

    @Test("RFC 7622, 3.1: a part has 1 to 1023 bytes")
    func lengths() throws {
        let longest = String(repeating: "a", count: 1023)
        let jid = try JID("\(longest)@\(longest)/\(longest)")
        #expect(jid.local == longest && jid.domain == longest && jid.resource == longest)
        for text in ["\(longest)a@b", "a@\(longest)b", "a@b/\(longest)c"] {
            #expect(throws: JIDError.self) { try JID(text) }
        }
        // U+FDFA takes 3 bytes and becomes 33.
        let growing = String(repeating: "\u{FDFA}", count: 40)
        #expect(throws: JIDError.self) { try JID("\(growing)@b") }
        #expect(try JID("a@b/" + String(repeating: "é", count: 511)).resource?.utf8.count == 1022)
    }

    @Test(
        "RFC 7622, 3.2: addresses of the Internet as domains",
        arguments: [
            ("a@192.0.2.1", "192.0.2.1"), ("a@[::1]", "[::1]"), ("a@[2001:DB8::A]/x", "[2001:db8::a]"),
            ("a@[fe80::1%eth0]", "[fe80::1%eth0]"), ("[::ffff:192.0.2.1]", "[::ffff:192.0.2.1]"),
        ])
    func internetAddresses(text: String, domain: String) throws {
        #expect(try JID(text).domain == domain)
    }

    @Test(
        "no IPv6 address",
        arguments: [
            "a@[::1", "a@[]", "a@[1]", "a@[::1]]", "a@[::1%]", "a@[::1%a b]", "a@[::1\0]", "a@::1", "a@[::1].x",
        ])
    func noInternetAddress(text: String) {
        #expect(throws: JIDError.self) { try JID(text) }
    }

    @Test("the texts of the errors")
    func errors() {
        func message(_ text: String) -> String {
            do { return "\(try JID(text))" } catch { return "\(error)" }
        }
        #expect(message("") == "the domain of the address is empty")
        #expect(message("@b") == "the local part of the address is empty")
        #expect(message("a@b/") == "the resource of the address is empty")
        #expect(message("a@b..c") == "label 2 of the domain of the address is empty")
        #expect(message("a@.") == "the domain of the address is empty")
        #expect(message("a b@c").contains("local part of the address is invalid: the character U+0020 at position 2"))
        #expect(message("a@b.c:5222").contains("domain of the address is invalid: the character U+003A at position 4"))
        #expect(message("a@bücher.ⅷ⒈").contains("domain of the address is invalid: the character U+2488 at position 9"))
        #expect(message("a@b/\u{0}").contains("resource of the address is invalid: the character U+0000 at position 1"))
        #expect(message("a@b/x\u{E000}").contains("the character U+E000 at position 2"))
        #expect(message("אa@b").contains("mixes right-to-left and left-to-right"))
        #expect(message("a@\u{AD}.b") == "label 1 of the domain of the address is empty")
        #expect(message("\u{AD}@b") == "the local part of the address is empty")
    }

    @Test("an address from a server that cannot be prepared is kept and compared as bytes")
    func received() throws {
        let odd = JID.received("Room@conf.example/\u{E000}")
        #expect(!odd.isPrepared)
        #expect(odd.local == "Room" && odd.domain == "conf.example" && odd.resource == "\u{E000}")
        #expect(odd.description == "Room@conf.example/\u{E000}")
        // Only the resource is odd: the room is the room.
        #expect(odd.bare == (try JID("room@conf.example")))
        #expect(JID.received("e\u{301} @x") != JID.received("\u{E9} @x"))
        for text in ["", "@", "/", "a@", "@a/", "a@@b", " "] {
            #expect(JID.received(text).description == text)
            #expect(!JID.received(text).isPrepared)
            #expect(!JID.received(text).bare.isPrepared)
        }
        #expect(JID.received("Romeo@Example.org") == (try JID("romeo@example.org")))
    }

    @Test("coded as its text")
    func coding() throws {
        let all = [try JID("romeo@example.org/x"), JID.received("a b@c/d")]
        let data = try JSONEncoder().encode(all)
        #expect(String(decoding: data, as: UTF8.self) == #"["romeo@example.org\/x","a b@c\/d"]"#)
        let again = try JSONDecoder().decode([JID].self, from: data)
        #expect(again == all && again.map(\.isPrepared) == [true, false])
    }

    @Test("order by bytes")
    func order() throws {
        let sorted = try ["b@a", "a@b/z", "a@b/ä", "a@b"].map { try JID($0) }.sorted()
        #expect(sorted.map(\.description) == ["a@b", "a@b/z", "a@b/ä", "b@a"])
    }

    @Test("RFC 3490: the name in DNS and certificates")
    func dnsName() throws {
        #expect(try JID("a@Bücher.example").dnsName == "xn--bcher-kva.example")
        #expect(try JID("a@example.org").dnsName == "example.org")
        #expect(try JID("a@[::1]").dnsName == "::1")
        #expect(try JID("a@" + String(repeating: "a", count: 64)).dnsName == nil)
        #expect(JID.received("a@b c").dnsName == nil)
    }

    @Test("RFC 7622, 3.2.1: a label in the form of DNS that a person types is converted; a server's stays")
    func typedLabels() throws {
        #expect(try JID("a@xn--bcher-kva.example/x").description == "a@bücher.example/x")
        #expect(try JID("XN--BCHER-KVA.xn--p1ai").description == "bücher.рф")
        #expect(try JID("xn--bcher-kva。example") == JID("bücher.example"))
        #expect(try JID("a@xn--bcher-kva.example").dnsName == "xn--bcher-kva.example")
        // No form of a label: it stays as it is.
        for text in ["a@xn--99999999999.example", "a@xn--.example", "xn--a.example", "a@axn--bcher-kva.example"] {
            #expect(try JID(text).description == text)
        }
        #expect(throws: JIDError.self) { _ = try JID("a@xn--bcher-kva\0.example") }
        for text in ["a@xn--bcher-kva.example", "a@XN--BCHER-KVA.example"] {
            #expect(JID.received(text).description == "a@xn--bcher-kva.example")
            #expect(JID.prepared(text)?.description == "a@xn--bcher-kva.example")
        }
        #expect(JID.prepared("a@b c") == nil)
    }

    @Test("an address is small")
    func size() {
        #expect(MemoryLayout<JID>.size <= 24)
    }
}
