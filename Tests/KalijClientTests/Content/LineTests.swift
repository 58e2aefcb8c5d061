import KalijAddress
import KalijRatchet
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// What makes a line of a conversation, and what text the line shows: the same from every source.
struct LineTests {
    enum Source: CaseIterable { case live, carbon, archive, room, roomArchive }

    /// The messages that other clients send, and the lines that people see; no line: nil.
    private static let cases: [(content: String, line: String?)] = [
        // XEP-0428 section 2.2, XEP-0308
        (
            "<body>[Corrected] meet at five</body><replace xmlns='urn:xmpp:message-correct:0' id='unknown'/>"
                + fallback("urn:xmpp:message-correct:0", "<body start='0' end='12'/>"),
            "(corrects unknown, which is not here): meet at five"
        ),
        // XEP-0461 section 3.1: a quote in two ranges, in any order, once more, and beyond the end
        (
            "<body>&gt; Are you coming\nYes\n&gt; today?\nsure</body>" + reply
                + fallback("urn:xmpp:reply:0", "<body start='21' end='30'/><body start='0' end='17'/>"),
            "(answer): Yes\n    sure"
        ),
        (
            "<body>&gt; one\nsure&gt; two</body>" + reply + fallback("urn:xmpp:reply:0", "<body start='0' end='4'/>")
                + fallback("urn:xmpp:reply:0", "<body start='2' end='6'/><body start='10' end='4000000000'/>"),
            "(answer): sure"
        ),
        // Nobody reads an extension that is not there; malformed ranges are none.
        ("<body>one two</body>" + fallback("urn:xmpp:reply:0", "<body start='0' end='4'/>"), ": one two"),
        ("<body>one two</body>" + fallback("urn:example:0", "<body/>"), ": one two"),
        ("<body>one</body>" + reply + fallback("urn:xmpp:reply:0", "<body start='2' end='1'/>"), "(answer): one"),
        ("<body>all quote</body>" + reply + fallback("urn:xmpp:reply:0", ""), "(answer): all quote"),
        // XEP-0066, XEP-0447 section 3.1: the text may be missing.
        (oob("https://example.net/c.jpg"), ": (file c.jpg, not fetched)"),
        (
            oob("https://example.net/c.jpg", "<desc>A cat</desc>") + "<body/>",
            ": (file c.jpg, not fetched) A cat"
        ),
        (oob("xmpp:orchard@muc.example.org?join"), ": xmpp:orchard@muc.example.org?join"),
        (sharing(source), ": (file summit.jpg, 17 bytes, not fetched)"),
        (
            sharing(""),
            ": (file summit.jpg, 17 bytes, cannot be fetched: the sender has named no address of https)"
        ),
        (
            "<body>see\nhttps://example.net/b/summit.jpg</body>" + sharing(source)
                + fallback("urn:xmpp:sfs:0", "<body start='4'/>"),
            ": (file summit.jpg, 17 bytes, not fetched) see\n    "
        ),
        (
            "<body>Romeo has sent a file</body>" + sharing(source) + fallback("urn:xmpp:sfs:0", "<body/>"),
            ": (file summit.jpg, 17 bytes, not fetched)"
        ),
        // XEP-0449 section 3
        (
            "<sticker xmlns='urn:xmpp:stickers:0' pack='p'/>" + sharing(source),
            ": (file summit.jpg, 17 bytes, not fetched) 😘"
        ),
        // RFC 6120 section 8.1.5: of several languages the message's own; XEP-0428: ranges count in the text of their language.
        ("<body xml:lang='fr'>Bonjour</body><body>Hello</body>", ": Hello"),
        ("<body xml:lang='fr'>Bonjour</body><body xml:lang='de'>Hallo</body>", ": Bonjour"),
        (
            "<body xml:lang='fr'>&gt; un\nBonjour</body><body>&gt; one\nHello</body>" + reply
                + fallback("urn:xmpp:reply:0", "<body xml:lang='fr' start='0' end='5'/><body start='0' end='6'/>"),
            "(answer): Hello"
        ),
        // XEP-0353, XEP-0482
        ("<propose xmlns='urn:xmpp:jingle-message:0' id='c'/>", ": (a call, which this client does not support)"),
        // XEP-0380
        ("<encryption xmlns='urn:xmpp:eme:0' namespace='urn:example:0'/>", ": (encrypted: urn:example:0)"),
        // Nothing is said.
        ("<body/><composing xmlns='http://jabber.org/protocol/chatstates'/>", nil),
        ("<body/>", nil), ("<subject/><body/>", nil),
        ("<accept xmlns='urn:xmpp:jingle-message:0' id='c'/>", nil),
        (
            "<body>read</body><displayed xmlns='urn:xmpp:chat-markers:0' id='m'/>"
                + fallback("urn:xmpp:chat-markers:0", ""), nil
        ),
        ("<body/><received xmlns='urn:xmpp:receipts' id='m'/>", nil),
        ("<body>👍</body><reactions xmlns='urn:xmpp:reactions:0' id='m'><reaction>👍</reaction></reactions>", nil),
        ("<body/><replace xmlns='urn:xmpp:message-correct:0' id='unknown'/>", nil),
    ]

    private static let reply = "<reply xmlns='urn:xmpp:reply:0' id='m1'/>"
    private static let source =
        "<url-data xmlns='http://jabber.org/protocol/url-data' target='https://example.net/b/summit.jpg'/>"

    private static func fallback(_ namespace: String, _ ranges: String) -> String {
        "<fallback xmlns='urn:xmpp:fallback:0' for='\(namespace)'>\(ranges)</fallback>"
    }

    private static func oob(_ url: String, _ more: String = "") -> String {
        "<x xmlns='jabber:x:oob'><url>\(url)</url>\(more)</x>"
    }

    private static func sharing(_ source: String) -> String {
        """
        <file-sharing xmlns='urn:xmpp:sfs:0' disposition='inline'><file xmlns='urn:xmpp:file:metadata:0'>\
        <media-type>image/jpeg</media-type><name>summit.jpg</name><size>17</size><desc>😘</desc></file>\
        <sources>\(source)</sources></file-sharing>
        """
    }

    /// The account gets a message with `content`, and another message.
    /// - Returns: the lines told, and the lines of the history.
    private func lines(_ content: String, _ source: Source) throws -> (told: [String], history: [String]) {
        let room = source == .room || source == .roomArchive ? try RoomHarness.joined() : nil
        let harness = try room?.harness ?? StepHarness.caughtUp()
        let client = "from='romeo@example.net/x' to='juliet@example.org' type='chat' id='n'"
        let effects: Step.Effects
        switch source {
        case .live: effects = try harness.receive("<message \(client)>\(content)</message>")
        case .carbon:
            effects = try harness.receive(
                """
                <message from='juliet@example.org'><received xmlns='urn:xmpp:carbons:2'><forwarded xmlns='urn:xmpp:forward:0'>\
                <message xmlns='jabber:client' \(client)>\(content)</message></forwarded></received></message>
                """)
        case .archive:
            _ = try harness.steps.readArchive()
            effects = try harness.receive(try harness.result("a1", xml: "<message \(client)>\(content)</message>"))
            try harness.fin("page", first: "a1", last: "a1", complete: true)
        case .room:
            effects = try harness.receive(
                "<message from='\(RoomHarness.room)/romeo' type='groupchat' id='n'>\(content)</message>")
        case .roomArchive:
            try #require(room).bindAnew()
            effects = try harness.receive(
                try harness.result(
                    "r1", room: RoomHarness.room,
                    xml: "<message from='\(RoomHarness.room)/romeo' type='groupchat' id='n'>\(content)</message>"))
        }
        let told = effects.events.compactMap { ($0.content as? MessageStored).map { $0.message.words } }
        let history = try HistoryReader(harness.database).messages(of: harness.account, with: nil, limit: 9)
        return (told, history.map(\.words))
    }

    @Test(
        "XEP-0428, 0461, 0308, 0066, 0447: live, as a carbon, from an archive and in a room a message is the same line",
        arguments: cases.indices, Source.allCases)
    func line(_ index: Int, _ source: Source) throws {
        let (content, line) = Self.cases[index]
        let (told, history) = try lines(content, source)
        let expected = line.map { [$0] } ?? []
        #expect(history == expected, "\(content)")
        #expect(told == expected, "\(content)")
    }

    @Test("RFC 6121 5.2.4: a chat's subject is shown; its fallback is not (XEP-0428); a room's subject is the room's")
    func subject() throws {
        #expect(try lines("<subject>Lunch</subject><body>at one?</body>", .live).told == [": Lunch\n    at one?"])
        #expect(try lines("<subject>Lunch</subject>", .carbon).told == [": Lunch"])
        let fallback = Self.fallback("urn:xmpp:reply:0", "<subject/><body start='0' end='3'/>")
        let stanza = "<subject>Re: Lunch</subject><body>at one?</body>" + Self.reply + fallback
        #expect(try lines(stanza, .archive).told == ["(answer): one?"])
        #expect(try lines("<subject>Lunch</subject><body>at one?</body>", .room).told == [": at one?"])
        #expect(try lines("<subject>Lunch</subject><body/>", .room).told.isEmpty)
    }

    @Test("a file without a text notifies, gets its receipt, is read by hand, and is gone when it is retracted")
    func fileOnly() throws {
        let harness = try StepHarness(notifies: true)
        try harness.bind(answered: .all)
        try harness.answerFeatures(archive: true)
        try harness.subscribe("romeo@example.net")
        let outbox = NotificationOutbox(database: harness.database)
        let request = "<request xmlns='urn:xmpp:receipts'/>"
        try harness.receive(
            """
            <message from='romeo@example.net/x' to='juliet@example.org' type='chat' id='f1'>\(Self.oob("https://example.net/c.jpg"))\
            \(request)</message>
            """)
        let shown = try outbox.pending(limit: 9).map(\.notification.body)
        #expect(shown == ["(file c.jpg, not fetched)"])
        #expect(try harness.queue().contains("message chat received"))
        #expect(try harness.number("SELECT count(*) FROM attachment") == 1)
        try harness.receive(
            """
            <message from='romeo@example.net/x' to='juliet@example.org' type='chat' id='r1'>\
            <retract xmlns='urn:xmpp:message-retract:1' id='f1'/></message>
            """)
        #expect(try outbox.pending(limit: 9).isEmpty)
        #expect(try harness.number("SELECT count(*) FROM attachment") == 0)
    }

    @Test("an empty text does not notify; a receipt beside a reaction or an answer drops nothing")
    func beside() throws {
        let harness = try StepHarness(notifies: true)
        try harness.bind(answered: .all)
        let client = "from='romeo@example.net/x' to='juliet@example.org' type='chat'"
        try harness.receive("<message \(client) id='e'><body/><markable xmlns='urn:xmpp:chat-markers:0'/></message>")
        #expect(try NotificationOutbox(database: harness.database).pending(limit: 9).isEmpty)
        try harness.receive("<message \(client) id='m1'><body>hi</body></message>")
        try harness.receive(
            """
            <message \(client) id='m2'><received xmlns='urn:xmpp:receipts' id='x'/>\
            <reactions xmlns='urn:xmpp:reactions:0' id='m1'><reaction>👍</reaction></reactions></message>
            """)
        #expect(try harness.records() == ["in hi [romeo@example.net 👍]"])
    }

    @Test("a correction of the text beside a file leaves the file; a malformed invitation hides no text")
    func keeps() throws {
        let harness = try StepHarness.caughtUp()
        let client = "from='romeo@example.net/x' to='juliet@example.org' type='chat'"
        try harness.receive("<message \(client) id='f1'><body>a cat</body>\(Self.sharing(Self.source))</message>")
        try harness.receive(
            "<message \(client) id='f2'><body>a dog</body><replace xmlns='urn:xmpp:message-correct:0' id='f1'/></message>"
        )
        try harness.receive(
            "<message \(client) id='i'><body>come</body><x xmlns='jabber:x:conference' jid='a@b/c'/></message>")
        let history = try HistoryReader(harness.database).messages(of: harness.account, with: nil, limit: 9)
        #expect(history.map(\.words) == ["(edited): (file summit.jpg, 17 bytes, not fetched) a dog", ": come"])
    }

    @Test(
        "OMEMO 2: a file without a text in an envelope is a line; OMEMO 0.3: an empty text is none, a plain file no file"
    )
    func encrypted() throws {
        let (harness, peer) = try StepHarness.withSecondVersion()
        let envelope = """
            <envelope xmlns='urn:xmpp:sce:1'><content>\(Self.oob("https://example.net/c.jpg"))</content>\
            <from jid='romeo@example.net'/><rpad>abc</rpad></envelope>
            """
        try harness.receive(peer.message(envelope, harness, id: "f1"))
        let history = { try HistoryReader(harness.database).messages(of: harness.account, with: nil, limit: 9) }
        #expect(try history().map(\.words) == [": (file c.jpg, not fetched)"])
        let old = try StepHarness.caughtUp()
        try old.publishKeys()
        let romeo = try SealedPeer(device: 8)
        try romeo.begin(old)
        let empty = try romeo.message("", old, id: "e1")
            .replacing("</message>", with: Self.oob("https://example.net/c.jpg") + "</message>")
        try old.receive(empty)
        #expect(try HistoryReader(old.database).messages(of: old.account, with: nil, limit: 9).isEmpty)
    }
}

extension Message {
    /// The line for people, without the addresses.
    fileprivate var words: String {
        let line = "\(line)"
        return line.replacing("from \(from)", with: "", maxReplacements: 1).replacing(" [delivered]", with: "")
            .replacing(" (", with: "(", maxReplacements: line.hasPrefix("from \(from) (") ? 1 : 0)
    }
}
