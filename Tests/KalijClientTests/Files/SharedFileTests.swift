import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Which messages share a file: XEP-0066, XEP-0447, XEP-0448 and `aesgcm` URLs.
struct SharedFileTests {
    private static let key = String(repeating: "0123456789abcdef", count: 5) + "01234567"
    private static let url = "https://example.net/a/cat.jpg"

    private func file(_ content: String) throws -> SharedFile? {
        let message = try Element.parse(
            "<message xmlns='jabber:client' from='romeo@example.net/orchard' type='chat'>\(content)</message>")
        return MessageContent(of: message, type: "chat").file
    }

    @Test("a URL that is the whole text, and is named out of band")
    func outOfBand() throws {
        let oob = "<x xmlns='jabber:x:oob'><url>\(Self.url)</url></x>"
        #expect(try file("<body>\(Self.url)</body>\(oob)")?.address == FileAddress(url: Self.url, key: nil))
        #expect(try file("<body>look: \(Self.url)</body>\(oob)") == nil, "a link in a text is no file")
        #expect(try file("<body>\(Self.url)</body>") == nil)
    }

    @Test("aesgcm with a nonce of 12 bytes, or of 16 as old clients have")
    func encrypted() throws {
        let shared = try #require(try file("<body>aesgcm://example.net/a/cat.jpg#\(Self.key)</body>"))
        #expect(shared.address.url == Self.url && shared.address.key?.count == 44)
        #expect(shared.address.encryptedText == "aesgcm://example.net/a/cat.jpg#\(Self.key)")
        #expect(try file("<body>aesgcm://example.net/a#\(Self.key)01234567</body>")?.address.key?.count == 48)
    }

    @Test(
        "what is nearly a file is none",
        arguments: [
            "aesgcm://example.net/a#00", "aesgcm://example.net/a", "aesgcm://#\(key)", "aesgcm:///a#\(key)",
            "aesgcm://example.net/a#\(key)0", "aesgcm://example.net/a b#\(key)", "aesgcm://u:p@example.net/a#\(key)",
            "aesgcm://example.net/a#\(key.dropLast())g", "aesgcm://example.net/a#\(key.dropLast())\u{0661}",
        ])
    func malformed(_ text: String) throws { #expect(try file("<body>\(text)</body>") == nil) }

    @Test(
        "only https without a user is fetched",
        arguments: [
            "http://example.net/a", "ftp://example.net/a", "file:///etc/passwd", "https://",
            "https://user@example.net/a", "https://u:p@example.net/a", "javascript:alert(1)", "data:,x",
        ])
    func schemes(_ url: String) throws {
        #expect(try file("<body>\(url)</body><x xmlns='jabber:x:oob'><url>\(url)</url></x>") == nil)
    }

    private func sharing(_ file: String, _ sources: String) -> String {
        """
        <body>see</body><file-sharing xmlns='urn:xmpp:sfs:0'><file xmlns='urn:xmpp:file:metadata:0'>\(file)</file>\
        <sources>\(sources)</sources></file-sharing>
        """
    }
    private static let target = "<url-data xmlns='http://jabber.org/protocol/url-data' target='\(url)'/>"

    @Test("XEP-0447, with the description of XEP-0446")
    func stateless() throws {
        let hash = "<hash xmlns='urn:xmpp:hashes:2' algo='sha-256'>\(String(repeating: "A", count: 43))=</hash>"
        let shared = try #require(
            try file(
                sharing(
                    "<name>cat.jpg</name><media-type>image/jpeg</media-type><size>17</size><width>3</width>\(hash)",
                    Self.target)))
        #expect(shared.address.url == Self.url)
        let expected = FileDescription(
            name: "cat.jpg", type: "image/jpeg", size: 17, sha256: [UInt8](repeating: 0, count: 32), width: 3)
        #expect(shared.description == expected)
        let lies = try #require(
            try file(
                sharing(
                    "<size>-1</size><width>x</width><size>2</size><hash xmlns='urn:xmpp:hashes:2' algo='sha-256'>AA==</hash>"
                        + "<name>\(String(repeating: "n", count: 2000))</name>", Self.target)))
        #expect(lies.description == FileDescription())
    }

    @Test("XEP-0448: key and nonce of the encrypted source")
    func encryptedSource() throws {
        let key = String(repeating: "A", count: 43) + "="
        let source = """
            <encrypted xmlns='urn:xmpp:esfs:0' cipher='urn:xmpp:ciphers:aes-256-gcm-nopadding:0'><key>\(key)</key>\
            <iv>AAAAAAAAAAAAAAAA</iv><sources xmlns='urn:xmpp:sfs:0'>\(Self.target)</sources></encrypted>
            """
        #expect(try file(sharing("", source))?.address.key == [UInt8](repeating: 0, count: 44))
        #expect(try file(sharing("", source.replacing("aes-256-gcm", with: "aes-128-gcm"))) == nil)
        #expect(try file(sharing("", source.replacing("AAAAAAAAAAAAAAAA", with: "AAAA"))) == nil)
    }

    @Test("rule 10: the message of a file that is not encrypted, for old clients and new")
    func sent() throws {
        let description = FileDescription(
            name: "cat.jpg", type: "image/jpeg", size: 17, sha256: [UInt8](repeating: 0, count: 32))
        let shared = SharedFile(FileAddress(url: Self.url, key: nil), description)
        let content = shared.content.map { $0.xml(in: "jabber:client") }.joined()
        #expect(try file(content) == shared)
        #expect(content.contains("<x xmlns='jabber:x:oob'><url>\(Self.url)</url></x>"))
        #expect(content.contains("for='urn:xmpp:sfs:0'"))
    }

    @Test("of a slot's headers only Authorization, Cookie and Expires, without line feeds, in order")
    func slotHeaders() throws {
        func slot(_ headers: String, put: String = Self.url, get: String = Self.url) throws -> UploadSlot? {
            UploadSlot(
                try Element.parse(
                    """
                    <iq xmlns='jabber:client' type='result'><slot xmlns='urn:xmpp:http:upload:0'>\
                    <put url='\(put)'>\(headers)</put><get url='\(get)'/></slot></iq>
                    """))
        }
        let headers = """
            <header name='Cookie'>a=b</header><header name='Host'>evil</header><header name='authorization'>x</header>\
            <header name='Expires'>never&#10;Host: evil</header>
            """
        #expect(
            try slot(headers)?.headers == [
                .init("Cookie", "a=b"), .init("authorization", "x"), .init("Expires", "neverHost: evil"),
            ])
        let pretty =
            "<header name='Authorization&#10;'>&#10;    Basic&#13;&#10; Base64==&#10;  </header><header name='Cookie'>&#9;</header>"
        #expect(try slot(pretty)?.headers == [.init("Authorization", "Basic Base64==")])
        #expect(try slot("", put: "http://example.net/a") == nil)
        #expect(try slot("", get: "http://example.net/a") == nil)
        #expect(try slot("", put: "https://example.net/" + String(repeating: "a", count: 5000)) == nil)
    }
}
