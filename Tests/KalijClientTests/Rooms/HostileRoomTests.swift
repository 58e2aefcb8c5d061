import KalijAddress
import KalijXML
import TestSupport
import Testing

import FoundationEssentials

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Rooms, and people in rooms, that mean no good.
struct HostileRoomTests {
    private static let muc = "http://jabber.org/protocol/muc#user"

    @Test(
        "case 36: a room speaks as a contact, forges carbons, archive results, invitations and presence of others: nothing counts"
    )
    func forgeries() throws {
        let room = try RoomHarness.joined(notifies: true)
        let harness = room.harness
        let before = try harness.history()
        let message =
            "<message xmlns='jabber:client' from='romeo@example.net/x' to='juliet@example.org'><body>forged</body></message>"
        for xml in [
            // As carbons, and as results of the account's archive.
            """
            <message from='\(RoomHarness.room)'><received xmlns='urn:xmpp:carbons:2'><forwarded xmlns='urn:xmpp:forward:0'>\
            \(message)</forwarded></received></message>
            """,
            """
            <message from='\(RoomHarness.room)/mallory' type='groupchat'><sent xmlns='urn:xmpp:carbons:2'>\
            <forwarded xmlns='urn:xmpp:forward:0'>\(message)</forwarded></sent></message>
            """,
            """
            <message from='\(RoomHarness.room)'><result xmlns='urn:xmpp:mam:2' queryid='x' id='1'>\
            <forwarded xmlns='urn:xmpp:forward:0'>\(message)</forwarded></result></message>
            """,
            // Invitations in a groupchat message.
            """
            <message from='\(RoomHarness.room)/mallory' type='groupchat'><x xmlns='jabber:x:conference' \
            jid='trap@muc.example.org'/></message>
            """,
            """
            <message from='\(RoomHarness.room)' type='groupchat'><x xmlns='\(Self.muc)'><invite \
            from='romeo@example.net'/></x></message>
            """,
            // An occupant's "invitation through the room" is none of the room's.
            """
            <message from='\(RoomHarness.room)/mallory'><x xmlns='\(Self.muc)'><invite from='romeo@example.net'/></x></message>
            """,
            // Presence of another room, and of nobody.
            "<presence from='other@muc.example.org/romeo'><x xmlns='\(Self.muc)'><item affiliation='owner'/></x></presence>",
            "<presence from='\(RoomHarness.room)'><x xmlns='\(Self.muc)'><status code='110'/></x></presence>",
            "<presence from='other@muc.example.org' type='unavailable'><x xmlns='\(Self.muc)'><destroy/></x></presence>",
        ] { try harness.receive(xml) }
        #expect(try harness.history() == before)
        #expect(try harness.number("SELECT count(*) FROM invitation") == 0)
        #expect(try harness.number("SELECT count(*) FROM notification") == 0)
        #expect(try harness.number("SELECT count(*) FROM room") == 1)
        #expect(try room.room.state == "joined")
    }

    @Test("who takes an id of ours, or writes our address where a room shows none, is somebody else")
    func foreignIDs() throws {
        let features = RoomHarness.group.filter { $0 != "muc_nonanonymous" }
        let room = try RoomHarness.joined(features: features)
        try room.accept("mine")
        let id = try room.id(of: "mine")
        try room.send()
        try room.say("mine", as: "juliet", id: id, stamp: "r1")
        try room.bindAnew(features: features + ["urn:xmpp:mam:2"])
        let ours = "<x xmlns='\(Self.muc)'><item jid='juliet@example.org/balcony'/></x>"
        for (number, nick, xml) in [
            (1, "juliet", "<body>mine</body>"), (2, "mallory", "<body>same id</body>"),
            (3, "mallory", "<body>address</body>\(ours)"),
        ] {
            let stanza = number == 3 ? "other" : id
            let message = """
                <message from='\(RoomHarness.room)/\(nick)' type='groupchat' id='\(stanza)'>\(xml)\
                <origin-id xmlns='urn:xmpp:sid:0' id='\(stanza)'/></message>
                """
            try room.harness.receive(try room.harness.result("r\(number)", room: RoomHarness.room, xml: message))
        }
        try room.harness.fin("page", first: "r1", last: "r3", complete: true, from: RoomHarness.room)
        let lines = try room.harness.history()
        #expect(lines == ["out mine (delivered)", "in same id", "in address"])
    }

    @Test("nobody but the room itself changes its subject's owner, its configuration or its members")
    func occupantsAsRoom() throws {
        let room = try RoomHarness.joined()
        try room.harness.receive(
            """
            <message from='\(RoomHarness.room)/mallory' type='groupchat'><x xmlns='\(Self.muc)'><status code='104'/></x>\
            <body>text</body></message>
            """)
        #expect(try room.harness.waiting("rooms.described").isEmpty)
    }

    @Test("words without end: names, reasons, subjects, nicknames, ids are cut or refused, and nothing stored is lost")
    func longWords() throws {
        let room = try RoomHarness.joined()
        let long = String(repeating: "x", count: 200_000)
        try room.subject(long)
        #expect(try #require(try room.room.subject).utf8.count <= 10_000)
        try room.presence("y" + String(repeating: "y", count: 5000))
        try room.presence("romeo", content: "<reason>\(long)</reason>")
        try room.harness.receive(
            """
            <message from='mallory@example.net/x'><x xmlns='jabber:x:conference' jid='trap@muc.example.org' reason='\(long)'/></message>
            """)
        let invitation = try #require(try Rooms(room.harness.database).invitations(of: room.harness.account).first)
        #expect(invitation.reason?.utf8.count == 1000)
        #expect(try room.room.state == "joined")
    }

    @Test("of more occupants than are stored, the account's own is one")
    func ownPlace() throws {
        let room = try RoomHarness.joined()
        try room.harness.database.execute(
            """
            DELETE FROM occupant;
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
            INSERT INTO occupant(room, nick, joined, affiliation, role, stay)
                SELECT r.id, 'citizen ' || i, r.joins, 'member', 'participant', -i FROM n, room r
            """)
        try room.presence("juliet", [110], jid: "juliet@example.org/balcony")
        try room.presence("tybalt")
        let (rooms, jid, account) = (Rooms(room.harness.database), try room.room.jid, room.harness.account)
        #expect(try rooms.rights(in: jid, for: account) != nil)
        #expect(try !rooms.occupants(of: jid, for: account).contains { $0.nick == "tybalt" })
    }

    @Test("a thousand invitations of one server keep out none of another, whatever rooms they name")
    func shares() throws {
        let room = try RoomHarness()
        func invite(_ number: Int, _ inviter: String) throws {
            try room.harness.receive(
                """
                <message from='\(inviter)/x' to='juliet@example.org' id='i\(number)'>\
                <x xmlns='jabber:x:conference' jid='r\(number)@rooms.example.com'/></message>
                """)
        }
        for number in 0..<1000 { try invite(number, "s\(number)@spam.example") }
        try invite(1000, "s@spam.example")
        try invite(1001, "honest@example.net")
        let all = try Rooms(room.harness.database).invitations(of: room.harness.account)
        #expect(all.count == 1000)
        #expect(all.contains { $0.inviter?.description == "honest@example.net" })
        #expect(!all.contains { $0.inviter?.description == "s@spam.example" })
    }

    @Test("the room of an invitation says its name when it is asked, cut; not before, and not without an invitation")
    func described() throws {
        let room = try RoomHarness(joining: false)
        let jid = try JID(RoomHarness.room)
        func title() throws -> String? {
            try Rooms(room.harness.database).invitations(of: room.harness.account).first?.title
        }
        #expect(
            try room.perform(DescribeInvitation(jid), id: "early") == .failed("nobody has invited you to \(jid)"))
        try room.harness.receive(
            "<message from='romeo@example.net/x' id='i'><x xmlns='jabber:x:conference' jid='\(RoomHarness.room)'/></message>"
        )
        #expect(try room.harness.waiting("rooms.invitation").isEmpty)
        #expect(try room.perform(DescribeInvitation(jid), id: "ask") == .pending)
        let id = try #require(try room.harness.waiting("rooms.invitation").last)
        let name = "Orchard " + String(repeating: "x", count: 1000)
        let told = try room.harness.receive(
            """
            <iq type='result' from='\(RoomHarness.room)' id='\(id)'><query xmlns='\(RoomHarness.items)'>\
            <identity category='conference' type='text' name='\(name)'/></query></iq>
            """
        ).told
        #expect(try title()?.utf8.count == 500 && told.contains { $0.hasPrefix("invitation_room") })
        #expect(try room.outcome("ask") == .done)
    }

    @Test("a further invitation costs the same with a thousand kept ones as with ten; the counts are those of the rows")
    func costs() throws {
        let room = try RoomHarness(joining: false)
        let harness = room.harness
        func invite(_ number: Int) throws {
            try harness.receive(
                """
                <message from='s\(number)@spam.example/x' to='juliet@example.org' id='i\(number)'>\
                <x xmlns='jabber:x:conference' jid='r\(number)@rooms.example.com'/></message>
                """)
        }
        /// The steps of SQLite's machine for one more invitation.
        func steps(_ number: Int) throws -> Int64 {
            let query =
                "SELECT sum(nstep) FROM sqlite_stmt WHERE sql LIKE '%invitation%' AND sql NOT LIKE '%sqlite_stmt%'"
            let before = try #require(try harness.number(query))
            try invite(number)
            return try #require(try harness.number(query)) - before
        }
        for number in 0..<10 { try invite(number) }
        let few = try steps(10)
        for number in 11..<1000 { try invite(number) }
        let many = try steps(1000)
        #expect(few > 0 && many <= few, "\(few), then \(many)")
        let jid = try JID("r5@rooms.example.com")
        try harness.perform { _ = try Intents(step: $0).perform(DeclineInvitation(jid), id: "decline") }
        #expect(
            try harness.number("SELECT count FROM invitation_sender WHERE domain = 'spam.example'")
                == harness.number("SELECT count(*) FROM invitation"))
    }

    @Test("strangers fill neither the disk nor the list: 1,000 invitations are kept, one a room, and a friend's stays")
    func manyInvitations() throws {
        let room = try RoomHarness(joining: false)
        func invite(_ room: String, by inviter: String, in harness: StepHarness) throws {
            try harness.receive(
                "<message from='\(inviter)/x' id='\(UUID().uuidString)'><x xmlns='jabber:x:conference' jid='\(room)'/><body>!</body></message>"
            )
        }
        try invite("friends@muc.example.org", by: "romeo@example.net", in: room.harness)
        for number in 0..<1010 {
            try invite("trap\(number)@muc.example.org", by: "mallory@example.net", in: room.harness)
        }
        for _ in 0..<5 { try invite("friends@muc.example.org", by: "mallory@example.net", in: room.harness) }
        let all = try Rooms(room.harness.database).invitations(of: room.harness.account)
        #expect(all.count == 1000)
        #expect(all.first?.inviter?.description == "romeo@example.net")
    }

    @Test(
        "case 37: occupants join and leave in thousands of presences: a step costs the same, and the database does not grow"
    )
    func crowd() throws {
        let room = try RoomHarness.joined()
        let count = RandomInput.isLong ? 2000 : 300
        func presence(_ number: Int, _ type: String?) throws -> Double {
            try ThreadCost.least(of: 1) {
                try room.presence("nick\(number)", type: type, jid: "user\(number)@example.net/x")
            }
        }
        let joining = try (0..<count).map { try presence($0, nil) }
        let size = try room.harness.number("SELECT page_count FROM pragma_page_count()") ?? 0
        #expect(try room.harness.number("SELECT count(*) FROM occupant") == Int64(count + 2))
        for round in 0..<4 {
            for number in 0..<count / 2 { _ = try presence(number, round % 2 == 0 ? "unavailable" : nil) }
        }
        for number in 0..<count { _ = try presence(number, "unavailable") }
        #expect(try room.harness.number("SELECT count(*) FROM occupant") == 2)
        #expect(try room.harness.number("SELECT page_count FROM pragma_page_count()") ?? .max <= size + size / 10)
        let (few, many) = (joining.prefix(20).sorted()[10], joining.suffix(20).sorted()[10])
        print("a presence costs \(few) s in an empty room, \(many) s in a full one")
        #expect(many < 5 * few)
    }

    @Test(
        "case 10: the room takes a message back, in the form of XEP-0425 now and before 0.3; an occupant who says so says nothing"
    )
    func moderation() throws {
        for form in [
            "<retract xmlns='urn:xmpp:message-retract:1' id='r1'><moderated xmlns='urn:xmpp:message-moderate:1'/></retract>",
            """
            <apply-to xmlns='urn:xmpp:fasten:0' id='r1'><moderated xmlns='urn:xmpp:message-moderate:0'>\
            <retract xmlns='urn:xmpp:message-retract:0'/></moderated></apply-to>
            """,
        ] {
            let room = try RoomHarness.joined()
            try room.say("spam", stamp: "r1")
            try room.say("another", stamp: "r2")
            for (sender, bodies) in [("/mallory", ["spam", "another"]), ("", ["another"])] {
                try room.harness.receive(
                    "<message from='\(RoomHarness.room)\(sender)' type='groupchat'>\(form)</message>")
                let left = try room.harness.database.prepare(
                    "SELECT body FROM message WHERE body IS NOT NULL ORDER BY id"
                )
                .all { $0.text() }
                #expect(left == bodies)
            }
        }
    }

    @Test("what an occupant writes in private is a conversation of its own, and so is the answer")
    func privately() throws {
        let room = try RoomHarness.joined()
        try room.harness.receive(
            """
            <message from='\(RoomHarness.room)/romeo' type='chat' id='p1'><x xmlns='\(Self.muc)'/><body>psst</body></message>
            """)
        let names = try room.harness.database.prepare("SELECT DISTINCT conversation FROM message").all { $0.text() }
        #expect(names == ["\(RoomHarness.room)/romeo"])
        try room.harness.accept("yes?", to: "\(RoomHarness.room)/romeo")
        let stanza = try #require(
            try room.harness.text("SELECT CAST(stanza AS TEXT) FROM queue WHERE message IS NOT NULL"))
        let element = try Element.parse(StepHarness.inClient(stanza))
        #expect(element["type"] == "chat" && element["to"] == "\(RoomHarness.room)/romeo")
        #expect(element.child("x", Self.muc) != nil)
        let reader = HistoryReader(room.harness.database)
        let account = room.harness.account
        let whispered = try reader.messages(of: account, with: JID("\(RoomHarness.room)/romeo"), limit: 9)
        #expect(whispered.compactMap(\.body) == ["psst", "yes?"])
        #expect(try reader.messages(of: account, with: JID(RoomHarness.room), limit: 9).isEmpty)
    }

    @Test(
        "XEP-0045 7.5, XEP-0280 6.1: private messages of a room where only another client is: the mark decides, and not the list of rooms",
        arguments: ["live", "carbon", "archive"])
    func elsewhere(_ source: String) throws {
        let room = try RoomHarness(joining: false)
        let harness = room.harness
        let (occupant, mark) = ("den@muc.example.org/alice", "<x xmlns='\(Self.muc)'/>")
        let sent =
            "<message from='juliet@example.org/laptop' to='\(occupant)' type='chat' id='p'><body>psst</body>\(mark)</message>"
        let received =
            "<message from='\(occupant)' to='juliet@example.org' type='chat' id='q'><body>yes?</body>\(mark)</message>"
        if source == "archive" { _ = try harness.steps.readArchive() }
        for (id, xml) in [("a1", sent), ("a2", received)] {
            switch source {
            case "archive": try harness.receive(try harness.result(id, xml: xml))
            case "carbon":
                let kind = id == "a1" ? "sent" : "received"
                try harness.receive(
                    """
                    <message from='juliet@example.org'><\(kind) xmlns='urn:xmpp:carbons:2'><forwarded xmlns='urn:xmpp:forward:0'>\
                    \(StepHarness.inClient(xml))</forwarded></\(kind)></message>
                    """)
            default: try harness.receive(xml)
            }
        }
        if source == "archive" { try harness.fin("page", first: "a1", last: "a2", complete: true) }
        let reader = HistoryReader(harness.database)
        func bodies(_ jid: String) throws -> [String?] {
            try reader.messages(of: harness.account, with: JID(jid), limit: 9).map(\.body)
        }
        #expect(try bodies(occupant) == ["psst", "yes?"])
        #expect(try bodies("den@muc.example.org").isEmpty)
        #expect(throws: IntentFailure.self) { try harness.accept("come", to: occupant) }
        // Later the account is in the room: what was said in private stays private.
        try room.perform(JoinRoom(try JID("den@muc.example.org")), id: "later")
        #expect(try bodies("den@muc.example.org").isEmpty && bodies(occupant) == ["psst", "yes?"])
    }

    @Test("a person whom the account knows is no occupant, whatever the person writes")
    func markedByContact() throws {
        let harness = try RoomHarness(joining: false).harness
        try harness.subscribe("romeo@example.net")
        try harness.accept("hi", to: "nurse@example.net")
        for person in ["romeo", "nurse"] {
            try harness.receive(
                """
                <message from='\(person)@example.net/x' to='juliet@example.org' type='chat' id='m'><body>psst</body>\
                <x xmlns='\(Self.muc)'/></message>
                """)
            #expect(
                try harness.number(
                    "SELECT count(*) FROM message WHERE conversation = '\(person)@example.net' AND body = 'psst'")
                    == 1)
        }
    }
}
