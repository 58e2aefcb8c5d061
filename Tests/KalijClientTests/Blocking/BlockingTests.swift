import KalijAddress
import KalijStream
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// XEP-0191 and XEP-0377.
struct BlockingTests {
    private static let romeo = "romeo@example.net"

    /// A harness whose server announces `features`.
    private func harness(
        _ features: [String] = ["urn:xmpp:blocking"], list items: String? = "", notifies: Bool = false
    ) throws -> StepHarness {
        let harness = try StepHarness(notifies: notifies)
        try harness.bind(answered: .all(but: .features))
        let vars = features.map { "<feature var='\($0)'/>" }.joined()
        try harness.receive(
            """
            <iq type='result' from='example.org' id='\(try harness.open("carbons.server"))'>\
            <query xmlns='http://jabber.org/protocol/disco#info'><identity category='server' type='im'/>\(vars)</query></iq>
            """)
        if let items { try answerList(items, harness) }
        return harness
    }

    @discardableResult
    private func answerList(_ items: String, _ harness: StepHarness) throws -> [String] {
        try harness.receive(
            "<iq type='result' id='\(try harness.open("blocking.list"))'><blocklist xmlns='urn:xmpp:blocking'>\(items)</blocklist></iq>"
        ).told(BlockedChanged.self)
    }

    @discardableResult
    private func push(_ name: String, _ items: String, from sender: String? = nil, _ harness: StepHarness) throws
        -> [String]
    {
        let from = sender.map { " from='\($0)'" } ?? ""
        return try harness.receive(
            "<iq type='set' id='p'\(from)><\(name) xmlns='urn:xmpp:blocking'>\(items)</\(name)></iq>"
        ).told(BlockedChanged.self)
    }

    private func blocked(_ harness: StepHarness) throws -> [String] {
        try Contacts(harness.database).blocked(of: harness.account).map(\.description)
    }

    @Test("3.2: a question for the list that expires is repeated twice: who does not ask gets no pushes")
    func repeated() throws {
        let harness = try self.harness(list: nil)
        var open = Set([try harness.open("blocking.list")])
        for _ in 0..<2 {
            try harness.letExpire()
            open.insert(try harness.open("blocking.list"))
        }
        #expect(open.count == 3)
        try answerList("<item jid='romeo@example.net'/>", harness)
        #expect(try blocked(harness) == ["romeo@example.net"])
    }

    @Test("3.2: the list is read where the server announces it, and only differences are told")
    func list() throws {
        let without = try self.harness([], list: nil)
        #expect(try without.number("SELECT count(*) FROM request WHERE name = 'blocking.list'") == 0)
        let harness = try self.harness(list: "<item jid='romeo@example.net'/><item jid='example.com'/>")
        #expect(try blocked(harness) == ["example.com", "romeo@example.net"])
        _ = try harness.runner.run("test", for: harness.account) {
            try Blocklist(step: $0).didDiscover(isOffered: true, takesReports: false)
        }
        #expect(
            try answerList("<item jid='romeo@example.net'/><item jid='iago@example.net'/>", harness) == [
                "blocked: example.com is not blocked any more", "blocked: iago@example.net is blocked",
            ])
    }

    @Test("3.3 to 3.5: pushes of the account's server change the list, those of anybody else do not")
    func pushes() throws {
        let harness = try self.harness()
        for sender in [
            "mallory@example.net/x", "romeo@example.net", "example.org", "juliet@example.org/phone", "example.net",
        ] {
            #expect(try push("block", "<item jid='nurse@example.org'/>", from: sender, harness).isEmpty, "\(sender)")
        }
        #expect(try blocked(harness).isEmpty)
        for sender in [nil, "juliet@example.org"] {
            #expect(
                try push("block", "<item jid='romeo@example.net'/>", from: sender, harness) == [
                    "blocked: romeo@example.net is blocked"
                ])
            for forger in ["mallory@example.net", "romeo@example.net"] {
                try push("unblock", "", from: forger, harness)
            }
            #expect(try blocked(harness) == [Self.romeo])
            #expect(try push("unblock", "<item jid='romeo@example.net'/>", from: sender, harness).count == 1)
        }
        try push("block", "<item jid='a@b'/><item jid='c@d'/><item/>", harness)
        #expect(try push("unblock", "", harness).count == 2)
        #expect(try blocked(harness).isEmpty)
    }

    @Test("section 6: a client, a person, a client of a server, or a whole server")
    func matching() throws {
        let harness = try self.harness()
        let rows = BlockedRows(database: harness.database, account: harness.account.id)
        for jid in ["a@example.net/x", "b@example.net", "example.com/x", "example.edu"] {
            _ = try rows.add(.received(jid))
        }
        for jid in [
            "a@example.net/x", "b@example.net", "b@example.net/y", "example.com/x", "example.edu", "z@example.edu/z",
        ] {
            #expect(try rows.isBlocked(.received(jid)), "\(jid)")
        }
        for jid in [
            "a@example.net", "a@example.net/y", "example.com", "c@example.net", "example.net", "sub.example.edu",
        ] {
            #expect(try !rows.isBlocked(.received(jid)), "\(jid)")
        }
    }

    @Test(
        "block and unblock end with the server's answer; a report only where the server takes reports",
        arguments: [true, false])
    func intents(_ takesReports: Bool) throws {
        let harness = try self.harness(["urn:xmpp:blocking"] + (takesReports ? ["urn:xmpp:reporting:1"] : []))
        try harness.want(Block(.received(Self.romeo), report: .spam))
        let item = try harness.request(try harness.open("blocking.changed")).child("block", "urn:xmpp:blocking")?.child(
            "item")
        #expect(item?["jid"] == Self.romeo)
        let reason = item?.child("report", "urn:xmpp:reporting:1")?["reason"]
        #expect(reason == (takesReports ? "urn:xmpp:reporting:spam" : nil))
        #expect(try harness.outcome() == .pending)
        #expect(try blocked(harness).isEmpty)
        #expect(try harness.fulfil("blocking.changed").told(BlockedChanged.self).count == 1)
        #expect(try harness.outcome() == .done)
        #expect(try push("block", "<item jid='romeo@example.net'/>", harness).isEmpty, "known by the answer")
        try harness.want(Unblock(.received(Self.romeo)), id: "un")
        try harness.write()
        try harness.bind(resumeID: "session-2", answered: .all)
        try harness.receive(
            "<iq type='error' id='\(try harness.open("blocking.changed"))'><error type='cancel'><item-not-found xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>"
        )
        #expect(try harness.outcome("un") == .done)
        #expect(try blocked(harness).isEmpty)
    }

    @Test("a server without blocking, and ourselves: nobody is blocked")
    func refused() throws {
        let harness = try self.harness([], list: nil)
        try harness.want(Block(.received(Self.romeo)))
        #expect(try harness.outcome() == .failed("the server cannot block anybody (XEP-0191)"))
        let other = try self.harness()
        try other.want(Block(.received("juliet@example.org/phone")))
        #expect(try other.outcome() == .failed("juliet@example.org/phone is the account itself"))
    }

    @Test("messages of blocked senders are not unread, whichever way they are blocked; afterwards they count again")
    func unread() throws {
        let harness = try self.harness()
        func write(_ id: String, _ from: String) throws {
            try harness.receive("<message from='\(from)' type='chat' id='\(id)'><body>\(id)</body></message>")
        }
        func unread(_ contact: String = Self.romeo) throws -> Int {
            try DisplayedPlaces.unread(in: contact, of: harness.account.id, in: harness.database)
        }
        try write("1", "romeo@example.net/orchard")
        try write("2", "romeo@example.net/orchard")
        try write("3", "romeo@example.net/phone")
        try write("4", "iago@example.net/x")
        #expect(try unread() == 3)
        for (jid, left, others) in [
            (Self.romeo, 0, 1), ("example.net", 0, 0), ("romeo@example.net/orchard", 1, 1),
            ("example.net/orchard", 1, 1), ("romeo@example.net/elsewhere", 3, 1), ("iago@example.net", 3, 0),
            ("example.org", 3, 1), ("romeo@example.com", 3, 1),
        ] {
            let effects = try harness.receive(
                "<iq type='set' id='p'><block xmlns='urn:xmpp:blocking'><item jid='\(jid)'/></block></iq>")
            #expect(try unread() == left, "\(jid)")
            #expect(try unread("iago@example.net") == others, "\(jid)")
            if left == 0 { #expect(effects.told(UnreadChanged.self).contains("unread: romeo@example.net: 0 unread")) }
            let after = try harness.receive(
                "<iq type='set' id='p'><unblock xmlns='urn:xmpp:blocking'><item jid='\(jid)'/></unblock></iq>")
            #expect(try unread() == 3, "\(jid)")
            if left == 0 { #expect(after.told(UnreadChanged.self).contains("unread: romeo@example.net: 3 unread")) }
        }
        try push("block", "<item jid='romeo@example.net'/><item jid='romeo@example.net/phone'/>", harness)
        try write("5", "romeo@example.net/phone")
        #expect(try unread() == 0)
        try push("unblock", "<item jid='romeo@example.net'/>", harness)
        #expect(try unread() == 2)
        try push("unblock", "", harness)
        #expect(try unread() == 4)
        #expect(try harness.number("SELECT blocking FROM session") == 0)
    }

    @Test("what slips through is stored, but neither notifies nor is answered")
    func slipsThrough() throws {
        let harness = try self.harness(list: "<item jid='romeo@example.net'/>", notifies: true)
        try harness.subscribe(Self.romeo)
        try harness.accept("I have written before")
        try harness.acknowledgeAll()
        let message =
            "<message from='romeo@example.net/orchard' type='chat' id='m'><body>Hi</body><request xmlns='urn:xmpp:receipts'/></message>"
        let effects = try harness.receive(message)
        #expect(effects.told == ["message Hi"])
        #expect(!effects.isSignalled(NotificationsFeature.self))
        try harness.receive("<iq type='get' from='romeo@example.net/orchard' id='q'><ping xmlns='urn:xmpp:ping'/></iq>")
        #expect(try !harness.queue().contains { $0.contains("received") })
        #expect(try harness.queue().contains("iq error error"))
        #expect(try harness.number("SELECT count(*) FROM owed_receipt") == 0)
        try push("unblock", "", harness)
        #expect(try harness.receive(message.replacing("'m'", with: "'n'")).isSignalled(NotificationsFeature.self))
    }
}
