import KalijAddress
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Identifiers that are canonically equivalent and differ in bytes, and Characters of 100 kB: nothing traps, nothing is taken
/// for something else, nothing grows.
struct EquivalentTextTests {
    /// The first two are left as they are by the preparation of addresses.
    static let pairs = [
        ("\u{FA70}", "\u{4E26}"), ("\u{1B06}", "\u{1B05}\u{1B35}"), ("é", "e\u{301}"), ("K", "\u{212A}"),
    ]

    private static func bookmark(_ room: String) -> String { "<conference jid='\(room)' autojoin='true'/>" }

    private func tell(_ bookmarks: String, _ harness: StepHarness) throws {
        _ = try harness.perform { try Bookmarks(step: $0).requestList() }
        let id = try #require(try harness.waiting("rooms.bookmarks").last)
        try harness.receive(
            """
            <iq type='result' id='\(id)'><query xmlns='jabber:iq:private'><storage xmlns='storage:bookmarks'>\(bookmarks)\
            </storage></query></iq>
            """)
    }

    /// Attacked: "Duplicate values for key", at every start and at every push, for good.
    @Test(
        "two rooms with equivalent names are two rooms: from the list, after a new session, and as accepted invitations"
    )
    func bookmarks() throws {
        for (one, other) in Self.pairs.prefix(2) {
            let harness = try RoomHarness(joining: false).harness
            let rooms = [one, other].map { "\($0)room@muc.example.org" }
            try tell(rooms.map(Self.bookmark).joined(), harness)
            try tell(rooms.map(Self.bookmark).joined(), harness)
            try harness.bind(resumeID: "session-2", answered: .all)
            try harness.answerFeatures(archive: true)
            try harness.answerPage(complete: true)
            try tell(Self.bookmark(rooms[0]), harness)
            #expect(try harness.number("SELECT count(*) FROM room") == 2)
            #expect(try harness.number("SELECT count(*) FROM room WHERE wanted") == 1, "the other has left the list")
            let invited = try RoomHarness(joining: false)
            for room in rooms { try invited.perform(JoinRoom(try JID(room)), id: room) }
            try tell("", invited.harness)
            #expect(try invited.harness.number("SELECT count(*) FROM room WHERE wanted") == 2)
        }
    }

    @Test("an occupant whose nickname is equivalent to ours is somebody else: removed, and heard")
    func nickname() throws {
        let (ours, other) = Self.pairs[0]
        let room = try RoomHarness(joining: false)
        try room.perform(JoinRoom(try JID(RoomHarness.room), nick: ours))
        try room.describe(RoomHarness.group)
        try room.enter(as: ours)
        try room.subject()
        try room.presence(other, jid: "mallory@example.net/x")
        try room.say("not mine", as: other)
        try room.presence(other, [307], type: "unavailable", jid: "mallory@example.net/x")
        #expect(try room.room.state == "joined")
        #expect(try room.harness.text("SELECT direction FROM message WHERE body = 'not mine'") == "in")
    }

    @Test("authors, conversations, requests and invitations with equivalent addresses are two each")
    func addresses() throws {
        let room = try RoomHarness.joined()
        let harness = room.harness
        let people = [Self.pairs[0].0, Self.pairs[0].1]
        try room.say("one", id: "m1", stamp: "r1")
        for (number, name) in people.enumerated() {
            try room.presence(name, jid: "\(name)@example.net/x")
            try harness.receive(
                """
                <message from='\(RoomHarness.room)/\(name)' type='groupchat' id='x\(number)'>\
                <reactions xmlns='urn:xmpp:reactions:0' id='r1'><reaction>👍</reaction></reactions>\
                <stanza-id xmlns='urn:xmpp:sid:0' by='\(RoomHarness.room)' id='s\(number)'/></message>
                """)
            try harness.receive("<message from='\(name)@example.net/x' type='chat' id='c'><body>hello</body></message>")
            try harness.receive("<presence from='\(name)@example.com' type='subscribe'/>")
            try harness.receive(
                "<message from='\(name)@example.com/x'><x xmlns='jabber:x:conference' jid='\(name)@muc.example.org'/></message>"
            )
        }
        let conversation = try HistoryReader(harness.database).messages(
            of: harness.account, with: JID(RoomHarness.room), limit: 9)
        #expect(
            conversation.first?.reactions.map(\.author.exact) == people.reversed().map { "\($0)@example.net".exact })
        let conversations = try Conversations(harness.directory).all().filter { $0.jid.hasSuffix("@example.net") }
        #expect(conversations.map(\.unread) == [1, 1])
        #expect(try harness.number("SELECT count(*) FROM subscription_request") == 2)
        #expect(try harness.number("SELECT count(*) FROM invitation") == 2)
    }

    /// Found by the fuzzer (`arriving`).
    @Test("a correction finds its message by an origin-id that is equivalent to the message's id")
    func names() throws {
        for (one, other) in Self.pairs {
            let harness = try StepHarness.caughtUp()
            func receive(_ id: String, origin: String, _ content: String) throws {
                try harness.receive(
                    """
                    <message from='romeo@example.net/x' type='chat' id='\(id)'>\(content)\
                    <origin-id xmlns='urn:xmpp:sid:0' id='\(origin)'/></message>
                    """)
            }
            try receive(
                "c", origin: "c", "<body>right</body><replace xmlns='urn:xmpp:message-correct:0' id='\(one)'/>")
            try receive(other, origin: one, "<body>wrong</body>")
            #expect(try harness.text("SELECT body FROM message WHERE origin_id = '\(one)'") == "right")
        }
    }

    @Test("archives, ids of pages and registrations for pushes with equivalent names are two")
    func values() throws {
        for (one, other) in Self.pairs {
            #expect(Archive(key: one) != Archive(key: other))
            let targets = [one, other].map {
                PushTarget(service: "push.example.org", node: $0, module: nil, secret: nil)
            }
            #expect(targets[0] != targets[1] && !targets[0].isSamePlace(as: targets[1]))
            var state = PushState(.enabled, wanted: targets[0], known: targets[0])
            #expect(state.handle(.requested(targets[1], isOnline: true)) != [.confirmed])
        }
    }

    @Test("a nickname in a text is a word of its own, also where it overlaps with itself")
    func mentions() {
        for (nick, text, isMention) in [
            ("aa", "aaa aa", true), ("aa", "aaa", false), ("--a--", "x--a--a--", false), ("- -", "x- - -", true),
            ("abab", "ababab abab!", true), ("ABAB", "xabab", false), ("a", "", false), ("", "a", false),
        ] {
            #expect(Mention.names(nick, in: text) == isMention, "\(nick) in \(text)")
        }
        // A nickname and a text that would take a billion comparisons.
        let (nick, text) = (String(repeating: "a", count: 5_000), String(repeating: "a", count: 200_000))
        #expect(!Mention.names(nick, in: text))
    }

    @Test("the keys of an equivalent address are somebody else's")
    func keys() throws {
        let people = [Self.pairs[0].0, Self.pairs[0].1].map { "\($0)@example.net" }
        let keys = people.map { "<keys jid='\($0)'><key rid='1'>AAAA</key></keys>" }.joined()
        let stanza = try Element.parse(
            "<message xmlns='jabber:client'><encrypted xmlns='urn:xmpp:omemo:2'><header sid='2'>\(keys)</header></encrypted></message>"
        )
        let element = try #require(EncryptedElement(stanza, .omemo2))
        for person in people { #expect(element.keys(for: 1, of: person).count == 1) }
    }

    @Test("equivalent identifiers in every place of a stanza, through the step, a new session and all readers")
    func everyPlace() throws {
        for (one, other) in Self.pairs {
            let harness = try HostileStanzas.harness()
            for stanza in HostileStanzas.all {
                for name in [one, other, one] { try harness.receive(HostileStanzas.filled(stanza, name, "text")) }
            }
            try harness.readAll()
            try harness.bind(resumeID: "session-2", answered: .all)
            try harness.answerFeatures(archive: true)
            try harness.readAll()
        }
    }

    /// Attacked: a Character of 120,000 combining marks passed each limit of 1,000 Characters.
    @Test(
        "Characters of 100 kB in every text, and of 16 kB in every identifier: no more than limits of bytes is stored beside messages"
    )
    func largeCharacters() throws {
        let large = "a" + String(repeating: "\u{301}", count: 50_000)
        let long = "a" + String(repeating: "\u{301}", count: 8_000)
        let harness = try HostileStanzas.harness()
        for stanza in HostileStanzas.all {
            try harness.receive(HostileStanzas.filled(stanza, "k", large))
            try harness.receive(HostileStanzas.filled(stanza, long, "text"))
        }
        try harness.readAll()
        for (place, bytes) in try harness.largest() {
            #expect(bytes <= 10_000, "\(place)")
        }
    }

    @Test("1,000 requests and 1,000 invitations of strangers, with the longest words, take a megabyte each")
    func strangers() throws {
        let harness = try RoomHarness(joining: false).harness
        let large = "a" + String(repeating: "\u{301}", count: 2_000)
        for number in 0..<1_010 {
            let jid = "u\(number)@example.net"
            try harness.receive("<presence from='\(jid)' type='subscribe'><status>\(large)</status></presence>")
            try harness.receive(
                "<message from='\(jid)/x'><x xmlns='jabber:x:conference' jid='r\(number)@muc.example.org' reason='\(large)' password='\(large)'/></message>"
            )
        }
        for (table, words) in [("subscription_request", "status"), ("invitation", "reason || coalesce(password, '')")] {
            #expect(try harness.number("SELECT count(*) FROM \(table)") == 1_000)
            #expect(try harness.number("SELECT sum(length(CAST(\(words) AS BLOB))) FROM \(table)") ?? .max <= 1_000_000)
        }
    }

    @Test(
        "words with a mark at a quotation mark or a space are words, and no language of FTS5",
        arguments: [
            "\"\u{301} OR x", "hello\"\u{301}) OR body:(", "a \u{301}\" NOT b", "\"\u{301}\"\u{301}",
            "\0\u{301}\"\u{301}*",
        ])
    func search(text: String) throws {
        let harness = try StepHarness.caughtUp()
        try harness.receive(
            "<message from='romeo@example.net/x' type='chat' id='1'><body>body x hello</body></message>")
        let reader = try HistoryReader(harness.directory)
        #expect(try reader.search(try SearchWords(text), of: [harness.account]).hits.isEmpty)
        while try SearchIndex(database: harness.database).hasWork() {
            _ = try harness.perform { try SearchIndex(database: $0.database).work() }
        }
        #expect(try reader.search(try SearchWords(text), of: [harness.account]).hits.isEmpty)
    }
}
