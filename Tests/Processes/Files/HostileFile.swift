import Foundation

/// A file that a hostile contact shares, and what has to come of a try to fetch it.
struct HostileFile {
    enum Outcome {
        /// The file has this name.
        case stored(String)
        /// The download has failed for good, with these words in the reason.
        case refused(String)
        /// Another try follows, with these words in the reason.
        case later(String)
        /// The message shares no file.
        case nothing
    }

    let url: String
    /// The child elements of `<file/>` (XEP-0446); nil for a URL out of band alone (XEP-0066).
    let description: String?
    let outcome: Outcome
    /// How many bytes of the server's pattern the stored file has; nil for other bytes.
    let bytes: Int?

    init(_ url: String, _ description: String, bytes: Int? = 100, _ outcome: Outcome) {
        (self.url, self.description, self.outcome, self.bytes) = (url, description, outcome, bytes)
    }

    init(_ url: String, bytes: Int? = 100, _ outcome: Outcome) {
        (self.url, description, self.outcome, self.bytes) = (url, nil, outcome, bytes)
    }

    /// The message, with the id `id`.
    func stanza(_ id: String) -> String {
        let address = Self.escaped(url)
        let sharing =
            description.map {
                """
                <file-sharing xmlns='urn:xmpp:sfs:0'><file xmlns='urn:xmpp:file:metadata:0'>\($0)</file>\
                <sources><url-data xmlns='http://jabber.org/protocol/url-data' target='\(address)'/></sources></file-sharing>
                """
            } ?? "<x xmlns='jabber:x:oob'><url>\(address)</url></x>"
        return "<message to='alice@localhost' type='chat' id='\(id)'><body>\(address)</body>\(sharing)</message>"
    }

    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("'", with: "&apos;")
    }

    /// A URL of the hostile server under its usual name.
    static func at(_ path: String) -> String { "https://files.hostile.example/" + path }

    /// A URL that leads to `location`.
    static func to(_ location: String) -> String {
        at("to/" + (location.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""))
    }
}

// MARK: The table

extension HostileFile {
    enum Kind: String, CaseIterable {
        case addresses, redirects, answers, parts, names, lies, keys
    }

    /// - Parameters:
    ///   - sums: SHA-256 in base64 of a file of so many bytes.
    ///   - key: of the encrypted files.
    static func all(_ kind: Kind, sums: [Int: String], key: String) -> [HostileFile] {
        switch kind {
        case .addresses: addresses
        case .redirects: redirects
        case .answers: answers
        case .parts: parts
        case .names: names
        case .lies: lies(sums)
        case .keys: keys(key)
        }
    }

    private static var addresses: [HostileFile] {
        let closed = [
            "10.0.0.1", "127.0.0.1", "127.0.0.1:8443", "127.0.0.1:80", "100.64.0.1", "169.254.169.254", "172.16.0.1",
            "192.168.1.1", "198.18.0.1", "240.0.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "[::1]", "[::]",
            "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b::a00:1]",
            "[2002:7f00:1::1]", "[fd00::1]", "[2001:db8::1]", "[fe80::1]", "2130706433", "0x7f.1", "0177.0.0.1",
            "loop.hostile.example", "six-loop.hostile.example", "private.hostile.example", "cloud.hostile.example",
        ]
        return closed.map { HostileFile("https://\($0)/file/100", .refused("address")) } + [
            HostileFile("https://both.hostile.example/file/100", .stored("100")),
            HostileFile("https://20.0.0.1/named/literal", .stored("literal")),
            HostileFile("https://six.hostile.example/named/six", .stored("six")),
            HostileFile("https://nowhere.hostile.example/file/100", .later("resolve")),
            HostileFile("https://localhost./file/100", .later("resolve")),
            HostileFile("https://alice:secret@files.hostile.example/file/100", .nothing),
            HostileFile("http://files.hostile.example/file/100", .nothing),
            HostileFile("file:///etc/passwd", .nothing),
        ]
    }

    private static var redirects: [HostileFile] {
        let closed = [
            "https://10.0.0.1/file/100", "https://127.0.0.1:8443/file/100", "https://[::1]/file/100",
            "https://[::ffff:127.0.0.1]/file/100", "https://[64:ff9b::7f00:1]/file/100", "//127.0.0.1/file/100",
            "https://169.254.169.254/latest/meta-data", "https://loop.hostile.example/file/100",
        ]
        let odd = [
            "http://files.hostile.example/file/100", "file:///etc/passwd", "ftp://20.0.0.1/x", "gopher://20.0.0.1/x",
            "https://alice:secret@files.hostile.example/file/100",
        ]
        return closed.map { HostileFile(to($0), .refused("address")) }
            + odd.map { HostileFile(to($0), .refused("not followed")) }
            + [
                HostileFile(to("https:///x"), .later("resolve")), HostileFile(to(""), .refused("redirect")),
                HostileFile(at("loop"), .refused("redirect")), HostileFile(at("redirect/4"), .refused("redirect")),
                HostileFile(at("redirect/3"), bytes: 10, .stored("3")),
                HostileFile(at("to-nowhere"), .refused("redirect")),
                HostileFile(
                    to("https://six.hostile.example/named/x"), .stored("x")),
                HostileFile(at("cookie"), .stored("cookie")),
                // The name leads to a private address from the redirect on.
                HostileFile("https://turning.hostile.example/turn", .refused("address")),
            ]
    }

    private static var answers: [HostileFile] {
        [
            HostileFile(at("no-length"), .refused("how large")), HostileFile(at("chunked"), .refused("how large")),
            HostileFile(at("short/1"), .later("")), HostileFile(at("long/1"), bytes: 500, .stored("1")),
            HostileFile(at("two-lengths"), .refused("")), HostileFile(at("says/-5"), .refused("")),
            HostileFile(at("says/99999999999999999999"), .refused("")), HostileFile(at("says/x"), .refused("")),
            HostileFile(at("says/9223372036854775807"), .later("room")),
            HostileFile(at("says/1000000000000000"), .later("room")),
            HostileFile(at("gzip"), .refused("compressed")), HostileFile(at("half-zip"), .refused("compressed")),
            HostileFile(at("coded"), .refused("")), HostileFile(at("wrong-range"), .refused("part")),
            HostileFile(at("status/416"), .refused("416")), HostileFile(at("status/204"), .refused("204")),
            HostileFile(at("status/404"), .refused("404")), HostileFile(at("status/401"), .refused("401")),
            HostileFile(at("status/500"), .later("500")), HostileFile(at("status/429"), .later("429")),
            HostileFile(at("huge-head"), .refused("")), HostileFile(at("endless-hints"), .refused("")),
            HostileFile(at("endless-error"), .refused("404")), HostileFile(at("garbage"), .refused("")),
            HostileFile(at("cut-head"), .later("")), HostileFile(at("says/0"), bytes: 0, .stored("0")),
        ]
    }

    /// The first answers are cut in the middle.
    private static var parts: [HostileFile] {
        ["good", "whole", "changed", "earlier", "later", "unranged", "beyond"].map {
            HostileFile(at("again/" + $0), bytes: 40_000, .stored($0))
        }
    }

    private static var names: [HostileFile] {
        let emoji = String(repeating: "\u{1F9A9}", count: 75)
        let named = [
            ("../../x", "x"), ("/etc/passwd", "passwd"), ("..\\..\\y.exe", "y.exe"), ("CON", "_CON"),
            ("nul.txt", "_nul.txt"), ("a\u{202E}gpj.exe", "agpj.exe"),
            (emoji + ".jpg", String(emoji.prefix(29)) + ".jpg"),
            ("a\tb", "ab"), (".bashrc", "bashrc"), ("..", "file"), ("/", "file (2)"), ("-rf", "_rf"),
            (" . ", "file (3)"),
            ("a<b>?.txt", "a_b__.txt"), ("x", "x (2)"), ("7.part", "7.part"), ("a\u{200B}\u{2066}b", "ab (2)"),
            (String(repeating: "a", count: 2000), "long"), ("", "long (2)"),
        ]
        return named.enumerated().map { number, name in
            HostileFile(
                at(name.0.isEmpty || name.0.count > 1024 ? "named/long" : "named/\(number)"),
                "<name>\(escaped(name.0))</name>", .stored(name.1))
        } + [
            // The last part of the URL.
            HostileFile(at("named/%2e%2e%2f%2e%2e%2fz"), .stored("z")),
            HostileFile(at("named/%00%0a%1b%5b2J"), .stored("[2J")),
            HostileFile(at("named/..%5cw"), .stored("w")), HostileFile(at("named/%FF%FE"), .stored("file (4)")),
        ]
    }

    private static func lies(_ sums: [Int: String]) -> [HostileFile] {
        func sum(_ count: Int) -> String {
            "<hash xmlns='urn:xmpp:hashes:2' algo='sha-256'>\(sums[count] ?? "")</hash>"
        }
        return [
            HostileFile(at("named/true"), "<size>100</size>" + sum(100), .stored("true")),
            HostileFile(at("named/size"), "<size>99</size>", .refused("the sender says 99")),
            HostileFile(at("named/large"), "<size>9223372036854775807</size>", .refused("the sender says")),
            HostileFile(at("named/negative"), "<size>-1</size>", .stored("negative")),
            HostileFile(at("named/sum"), "<size>100</size>" + sum(1000), .refused("SHA-256")),
            HostileFile(at("long/2"), "<size>500</size>" + sum(1000), .refused("SHA-256")),
            HostileFile(
                at("named/half-sum"), "<hash xmlns='urn:xmpp:hashes:2' algo='sha-256'>AAAA</hash>", .stored("half-sum")),
            HostileFile(at("named/type"), "<media-type>text/html\u{202E}</media-type>", .stored("type")),
            HostileFile(at("again/good/3"), sum(1000), .refused("SHA-256")),
        ]
    }

    private static func keys(_ key: String) -> [HostileFile] {
        func file(_ kind: String, host: String = "files.hostile.example", key: String, _ outcome: Outcome)
            -> HostileFile
        {
            HostileFile("aesgcm://\(host)/gcm/\(kind)#\(key)", bytes: kind == "good" ? 1000 : 0, outcome)
        }
        let other = String(key.dropLast()) + "0"
        return [
            file("good", key: key, .stored("good")), file("good", key: other, .refused("")),
            file("flipped", key: key, .refused("")), file("tag", key: key, .refused("")),
            file("cut", key: key, .refused("")), file("short", key: key, .refused("")),
            file("longer", key: key, .refused("")), file("tag-alone", key: key, .stored("tag-alone")),
            file("good", key: "00000000" + key, .refused("")), file("good", key: String(key.dropLast(2)), .nothing),
            file("good", host: "10.0.0.1", key: key, .refused("address")),
            file("good", host: "loop.hostile.example", key: key, .refused("address")),
        ]
    }
}
