import Foundation
import KalijLab
import TestSupport
import Testing

/// Somebody between Kalij and the server, with a certificate that Kalij trusts: nothing leaves that proves the password elsewhere.
@Suite(.serialized) struct MITMTests {
    /// What is changed, by name.
    private static let changes: [(name: String, rules: [Middle.Rule])] = [
        ("nothing", []),
        ("no PLUS", [.down("<mechanism>SCRAM[^<]*-PLUS</mechanism>")]),
        ("PLAIN alone", [.down("<mechanism>(?!PLAIN)[^<]*</mechanism>")]),
        ("no SASL2", [.down("<authentication .*?</authentication>")]),
        (
            "SASL2 with PLAIN alone",
            [.down("<mechanisms .*?</mechanisms>"), .down("<mechanism>SCRAM[^<]*</mechanism>")]
        ),
        ("no bindings named", [.down("<sasl-channel-binding.*?</sasl-channel-binding>")]),
        ("another binding", [.down("type='tls-exporter'", "replace", "type='tls-unique'")]),
        (
            "no binding, no PLUS",
            [.down("<sasl-channel-binding.*?</sasl-channel-binding>"), .down("<mechanism>[^<]*-PLUS</mechanism>")]
        ),
        ("no FAST", [.down("<fast .*?</fast>")]),
        ("FAST with NONE alone", [.down("<mechanism>HT-SHA-256-(?!NONE)[^<]*</mechanism>")]),
        ("FAST with ENDP alone", [.down("HT-SHA-256-EXPR", "replace", "HT-SHA-256-ENDP")]),
        ("neither FAST nor PLUS", [.down("<fast .*?</fast>"), .down("<mechanism>[^<]*-PLUS</mechanism>")]),
        ("no resuming inside", [.down("<sm xmlns='urn:xmpp:sm:3'/>")]),
        ("another challenge", [.down("(<challenge[^>]*>).{12}", "replace", "\\1cj1hYmNkZWZn")]),
        (
            "a challenge that asks for one round",
            [
                .down(
                    "<challenge[^>]*>", "insert",
                    "<challenge xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>cj1hLHM9YSxpPTE=</challenge>")
            ]
        ),
        (
            "success without a signature",
            [
                .down(
                    "<success.*?</success>|<failure.*?</failure>", "replace",
                    "<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>")
            ]
        ),
        (
            "success with a wrong signature",
            [
                .down(
                    "<failure.*?</failure>", "replace",
                    "<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>dj1BQUFB</success>")
            ]
        ),
        ("success at once", [.up("<auth", "answer", "<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>")]),
        (
            "SASL2's success at once",
            [
                .up(
                    "<auth", "answer",
                    "<success xmlns='urn:xmpp:sasl:2'><authorization-identifier>alice@localhost/x</authorization-identifier></success>"
                )
            ]
        ),
        (
            "this mechanism is refused",
            [.up("-PLUS", "answer", "<failure xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><invalid-mechanism/></failure>")]
        ),
        (
            "SASL2 refuses this mechanism",
            [
                .up(
                    "-PLUS", "answer",
                    "<failure xmlns='urn:xmpp:sasl:2'><invalid-mechanism xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/></failure>"
                )
            ]
        ),
        (
            "the token is refused",
            [
                .up(
                    "HT-SHA", "answer",
                    "<failure xmlns='urn:xmpp:sasl:2'><not-authorized xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/></failure>"
                ), .down("<mechanism>[^<]*-PLUS</mechanism>"),
            ]
        ),
    ]

    @Test(
        "the lists, the bindings, the challenge or the end are changed: no proof leaves that is not bound to the channel"
    )
    func changes() async throws {
        guard let newer = newerServers(leavingOut: "changes by a man in the middle") else { return }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for kind in LongForm.servers { group.addTask { try await changes(kind, newer) } }
            try await group.waitForAll()
        }
    }

    private func changes(_ kind: ServerKind, _ newer: DebianRelease) async throws {
        var options = ServerOptions()
        options.release = newer
        options.oneFlight = true
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let server = try await startedServer(kind, in: laboratory, options: options)
        let middle = try await Middle(server, in: laboratory)
        // The first login is nobody's but the server's: the ports are the middle's from then on.
        let kalij = try Kalij(data: laboratory.path("alice"))
        try await honest(kalij, server)
        for (name, rules) in Self.changes {
            try await middle.set(rules)
            let start = try middle.said().count
            let copy = try Kalij(data: laboratory.path("copy-\(UUID().uuidString)"))
            // With its sockets, which FileManager does not copy.
            try await laboratory.run("/bin/cp", ["-a", kalij.data, copy.data])
            try await redirect(copy, to: middle.port, laboratory)
            let run = try copy.running()
            _ = try await until(every: 50) { try run.says("online") || run.says("offline") || run.says("refused") }
            let isOnline = try run.says("online")
            _ = run.end(SIGKILL)
            let said = try middle.said().dropFirst(start)
            #expect(!said.isEmpty, "\(kind), \(name): nobody came")
            #expect(!isOnline, "\(kind), \(name): it believed to be at the server")
            #expect(said.allSatisfy { !Self.isProof($0) }, "\(kind), \(name): \(said.suffix(3))")
        }
    }

    private func honest(_ kalij: Kalij, _ server: any XMPPServer) async throws {
        #expect(try kalij.login(server).status == 0)
        for _ in 0..<2 {
            let run = try kalij.running()
            try await run.event("caught_up")
            _ = run.end(SIGKILL)
        }
    }

    /// The account's stored address leads to the middle.
    private func redirect(_ kalij: Kalij, to port: Int, _ laboratory: Laboratory) async throws {
        let update = "UPDATE account SET server = '127.0.0.1:\(port)'; SELECT changes()"
        let columns = try await laboratory.run("/usr/bin/sqlite3", ["-batch", kalij.data + "/kalij.db", update])
        try #require(columns.contains("1"), "\(columns)")
    }

    /// Whether somebody who reads this can use it at the server: a password, a response or a token bound to no channel.
    static func isProof(_ letter: String) -> Bool {
        if letter.contains("'PLAIN'") || letter.contains("HT-SHA-256-NONE'") { return true }
        guard letter.hasPrefix("<response"),
            let text = letter.split(separator: ">").dropFirst().first?.split(separator: "<").first,
            let data = Data(base64Encoded: String(text))
        else { return false }
        let response = String(decoding: data, as: UTF8.self)
        // "n,," and "y,,": no binding.
        return response.contains(",p=") && (response.hasPrefix("c=biws,") || response.hasPrefix("c=eSws,"))
    }
}
