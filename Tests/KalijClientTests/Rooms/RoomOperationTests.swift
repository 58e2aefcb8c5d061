import KalijAddress
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Corrections, retractions, reactions and replies in rooms count if their author is proven.
struct RoomOperationTests {
    private static let channel = ["http://jabber.org/protocol/muc"]
    private static let named = channel + ["urn:xmpp:occupant-id:0"]

    /// An archive shows the address of the author.
    private static let address =
        "<x xmlns='http://jabber.org/protocol/muc#user'><item jid='romeo@example.net/orchard'/></x>"

    private static func replace(_ id: String) -> String { "<replace xmlns='urn:xmpp:message-correct:0' id='\(id)'/>" }
    private static func retract(_ id: String) -> String { "<retract xmlns='urn:xmpp:message-retract:1' id='\(id)'/>" }
    private static func react(_ id: String, _ emoji: String) -> String {
        "<reactions xmlns='urn:xmpp:reactions:0' id='\(id)'><reaction>\(emoji)</reaction></reactions>"
    }
    private static func occupant(_ id: String) -> String {
        "<occupant-id xmlns='urn:xmpp:occupant-id:0' id='\(id)'/>"
    }

    @Test("in a group the address is the author, under whatever nickname and after another join")
    func addresses() throws {
        let room = try RoomHarness.joined()
        try room.say("one", id: "m1", stamp: "r1")
        try room.say("two", id: "m2", stamp: "r2")
        try room.presence(
            "romeo", [303], type: "unavailable", jid: "romeo@example.net/orchard", item: " nick='montague'")
        try room.presence("montague", jid: "romeo@example.net/orchard")
        try room.message("<body>1</body>" + Self.replace("m1"), as: "montague", id: "m3", stamp: "r3")
        try room.presence("montague", type: "unavailable", jid: "romeo@example.net/orchard")
        try room.presence("romeo", jid: "romeo@example.net/phone")
        try room.message(Self.retract("r2"), id: "m4", stamp: "r4")
        try room.message(Self.react("r1", "👍"), id: "m5", stamp: "r5")
        #expect(try room.harness.records() == ["in 1 (edited) [romeo@example.net 👍]", "in (retracted)"])
    }

    @Test(
        "case 3: whoever takes the nickname of an author who has just left corrects, retracts and changes nothing",
        arguments: [RoomHarness.group, channel, named])
    func takenNickname(_ features: [String]) throws {
        let room = try RoomHarness.joined(features: features)
        func id(_ id: String) -> String { features == Self.named ? Self.occupant(id) : "" }
        try room.presence("paris", jid: "paris@example.net/tomb")
        try room.message("<body>one</body>" + id("p"), as: "paris", id: "m1", stamp: "r1")
        try room.message(Self.react("r1", "👍") + id("p"), as: "paris", id: "m2", stamp: "r2")
        try room.presence("paris", type: "unavailable", jid: "paris@example.net/tomb")
        try room.presence("paris", jid: "mallory@example.net/x")
        try room.message("<body>else</body>" + Self.replace("m1") + id("m"), as: "paris", id: "m3", stamp: "r3")
        try room.message(Self.retract("r1") + id("m"), as: "paris", id: "m4", stamp: "r4")
        try room.message(Self.react("r1", "👎") + id("m"), as: "paris", id: "m5", stamp: "r5")
        let author = features == RoomHarness.group ? "paris@example.net" : "\(RoomHarness.room)/paris"
        let other = features == RoomHarness.group ? "mallory@example.net" : author
        #expect(
            try room.harness.records() == [
                "in one [\(author == other ? author + " 👍 👎" : [other + " 👎", author + " 👍"].sorted().joined(separator: ", "))]",
                "in else (corrects m1)",
            ])
        // The author is back; where only the stay counts, that proves nothing.
        try room.presence("paris", type: "unavailable", jid: "mallory@example.net/x")
        try room.presence("paris", jid: "paris@example.net/tomb")
        try room.message("<body>1</body>" + Self.replace("m1") + id("p"), as: "paris", id: "m6", stamp: "r6")
        let isEdited = try room.harness.records()[0].hasPrefix("in 1 (edited)")
        #expect(isEdited == (features != Self.channel))
    }

    @Test("case 4: from the archive of a room that proves no authors a correction is a message of its own, and says so")
    func unprovenArchive() throws {
        let room = try RoomHarness.joined(archive: true, features: Self.channel)
        try room.say("one", id: "m1", stamp: "r1")
        try room.bindAnew(features: Self.channel + ["urn:xmpp:mam:2"])
        try room.showToEnd([
            ("r1", "romeo", "<body>one</body>"),
            ("r2", "romeo", "<body>else</body>" + Self.replace("m1") + Self.address),
            ("r3", "romeo", Self.retract("r1")), ("r4", "romeo", Self.react("r1", "👎")),
        ])
        #expect(try room.harness.records() == ["in one", "in else (corrects m1)"])
    }

    @Test("the archive of a group shows addresses, so that operations count; two addresses in a message prove nothing")
    func archive() throws {
        let room = try RoomHarness.joined()
        try room.say("one", id: "m1", stamp: "r1")
        try room.say("two", id: "m2", stamp: "r2")
        try room.bindAnew()
        let other = Self.address.replacing("romeo", with: "mallory")
        try room.showToEnd([
            ("r1", "romeo", "<body>one</body>" + Self.address), ("r2", "romeo", "<body>two</body>" + Self.address),
            ("r3", "else", "<body>1</body>" + Self.replace("m1") + Self.address),
            ("r4", "else", Self.retract("r1") + other),
            ("r5", "else", "<body>2</body>" + Self.replace("m2") + Self.address + other),
        ])
        #expect(try room.harness.records() == ["in 1 (edited)", "in two", "in 2 (corrects m2)"])
    }

    @Test("an operation that comes before its message counts when the message comes, by the room's id, too")
    func early() throws {
        let room = try RoomHarness.joined()
        try room.message(Self.react("r9", "👍"), id: "m1", stamp: "r1")
        try room.message(Self.retract("r8"), id: "m2", stamp: "r2")
        try room.bindAnew()
        try room.showToEnd([
            ("r8", "romeo", "<body>eight</body>" + Self.address), ("r9", "romeo", "<body>nine</body>" + Self.address),
            ("r1", "romeo", Self.react("r9", "👍") + Self.address), ("r2", "romeo", Self.retract("r8") + Self.address),
        ])
        #expect(try room.harness.records() == ["in (retracted)", "in nine [romeo@example.net 👍]"])
    }

    @Test("a message under the id that the room has given another message takes no reaction away")
    func borrowedID() throws {
        let room = try RoomHarness.joined()
        try room.say("one", id: "m1", stamp: "r1")
        try room.presence("mallory", jid: "mallory@example.net/x")
        try room.say("other", as: "mallory", id: "r1", stamp: "r2")
        try room.message(Self.react("r1", "👍"), id: "m3", stamp: "r3")
        #expect(try room.harness.records() == ["in one [romeo@example.net 👍]", "in other"])
    }

    @Test("the user's operations leave with the room's ids, and are done when the room has shown them")
    func own() throws {
        let room = try RoomHarness.joined()
        let message = try room.accept("teh")
        try room.send()
        #expect(try room.perform(React(.row(message.id), ["👍"]), id: "i0") == .failed(Self.noID))
        try room.say("teh", as: "juliet", id: message.messageID, stamp: "r1")
        #expect(try room.perform(Correct(.row(message.id), body: "the"), id: "i1") == .pending)
        #expect(try room.perform(React(.row(message.id), ["👍"]), id: "i2") == .pending)
        #expect(try room.harness.records() == ["out the (edited) [juliet@example.org 👍]"])
        #expect(try room.leaving("replace") == ["groupchat \(RoomHarness.room) \(message.messageID)"])
        #expect(try room.leaving("reactions") == ["groupchat \(RoomHarness.room) r1"])
        try room.send()
        #expect(try room.outcome("i1") == .pending, "the server has it; the room has not shown it")
        try room.message("<body>the</body>" + Self.replace(message.messageID), as: "juliet", id: "i1", stamp: "r2")
        try room.message(Self.react("r1", "👍"), as: "juliet", id: "i2", stamp: "r3")
        #expect(try room.outcome("i1") == .done)
        #expect(try room.outcome("i2") == .done)
        #expect(try room.perform(Retract(.row(message.id)), id: "i3") == .pending)
        #expect(try room.leaving("retract") == ["groupchat \(RoomHarness.room) r1"])
        try room.send()
        #expect(try room.harness.number("SELECT count(*) FROM original") == 1, "the room may refuse")
        try room.message(Self.retract("r1"), as: "juliet", id: "i3", stamp: "r4")
        #expect(try room.outcome("i3") == .done)
        #expect(try room.harness.records() == ["out (retracted) [juliet@example.org 👍]"])
        #expect(try room.harness.number("SELECT count(*) FROM original") == 0)
    }

    private static let noID = "the room has given the message no id yet, so nothing can name it"

    @Test("a refused operation does not count, and has failed")
    func refused() throws {
        let room = try RoomHarness.joined()
        let message = try room.accept("one")
        try room.send()
        try room.say("one", as: "juliet", id: message.messageID, stamp: "r1")
        _ = try room.perform(Correct(.row(message.id), body: "two"), id: "i1")
        try room.send()
        try room.harness.receive(
            """
            <message type='error' from='\(RoomHarness.room)' id='i1'><error type='auth'>\
            <forbidden xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></message>
            """)
        guard case .failed? = try room.outcome("i1") else { return #expect(Bool(false), "not failed") }
        #expect(try room.harness.records() == ["out one"])
    }

    @Test("operations of the account's other clients are its own")
    func otherClient() throws {
        let room = try RoomHarness.joined()
        let message = try room.accept("one")
        try room.send()
        try room.say("one", as: "juliet", id: message.messageID, stamp: "r1")
        try room.message("<body>two</body>" + Self.replace(message.messageID), as: "juliet", id: "p1", stamp: "r2")
        try room.message(Self.react("r1", "👍"), as: "juliet", id: "p2", stamp: "r3")
        #expect(try room.harness.records() == ["out two (edited) [juliet@example.org 👍]"])
    }

    @Test("an answer names the room's id and the occupant; the quote of an answer is not shown")
    func replies() throws {
        let room = try RoomHarness.joined()
        try room.say("why?", id: "m1", stamp: "r1")
        _ = try room.harness.runner.run("test", for: room.harness.account) { step in
            let answered = try #require(try MessageReference.id("m1").found(by: step.account, in: step.database))
            _ = try step.accept("because", to: try JID(RoomHarness.room), answering: answered)
        }
        let stanza = try #require(
            try room.harness.text("SELECT CAST(stanza AS TEXT) FROM queue WHERE groupchat IS NOT NULL"))
        let reply = try Element.parse(StepHarness.inClient(stanza)).child("reply", "urn:xmpp:reply:0")
        #expect(reply?["id"] == "r1" && reply?["to"] == "\(RoomHarness.room)/romeo")
        try room.message(
            """
            <body>&gt; why?\nso</body><reply xmlns='urn:xmpp:reply:0' id='r1'/>\
            <fallback xmlns='urn:xmpp:fallback:0' for='urn:xmpp:reply:0'><body start='0' end='7'/></fallback>
            """, id: "m3", stamp: "r3")
        #expect(try room.harness.records().last == "in so")
    }

    @Test("in private, too, the next holder of a nickname corrects nothing of the former holder")
    func privately() throws {
        let room = try RoomHarness.joined()
        func tell(_ content: String, id: String) throws {
            try room.harness.receive(
                "<message from='\(RoomHarness.room)/paris' type='chat' id='\(id)'>\(content)</message>")
        }
        try room.presence("paris", jid: "paris@example.net/tomb")
        try tell("<body>one</body>", id: "m1")
        try tell("<body>1</body>" + Self.replace("m1"), id: "m2")
        try room.harness.accept("for paris", to: "\(RoomHarness.room)/paris")
        try room.presence("paris", type: "unavailable", jid: "paris@example.net/tomb")
        try room.presence("paris", jid: "mallory@example.net/x")
        #expect(throws: IntentFailure("paris was paris@example.net, and is mallory@example.net now")) {
            try room.harness.accept("for paris alone", to: "\(RoomHarness.room)/paris")
        }
        try tell("<body>else</body>" + Self.replace("m1"), id: "m3")
        #expect(try room.harness.records() == ["in 1 (edited)", "out for paris", "in else (corrects m1)"])
        try tell(Self.retract("m1"), id: "m4")
        let records = try room.harness.records()
        #expect(records == ["in 1 (edited)", "out for paris"], "the new holder takes back only what he said")
    }

    @Test("operations whose authors nobody proves are bounded")
    func bounded() throws {
        let room = try RoomHarness.joined(features: Self.channel)
        for number in 1...150 {
            try room.message(Self.react("unknown\(number)", "👍"), as: "nobody", id: "m\(number)", stamp: "r\(number)")
        }
        #expect(try room.harness.number("SELECT count(*) FROM operation") == 100)
    }
}

extension RoomHarness {
    /// The stanzas in the queue with a child of this name, as `type recipient id`, with the id that the child names.
    fileprivate func leaving(_ name: String) throws -> [String] {
        let all = try #require(
            try harness.text(
                "SELECT '<all>' || group_concat(CAST(stanza AS TEXT), '') || '</all>' FROM queue WHERE groupchat IS NOT NULL"
            ))
        return try Element.parse(StepHarness.inClient(all)).children.compactMap { stanza in
            stanza.children.first { $0.name == name }.map {
                "\(stanza["type"] ?? "") \(stanza["to"] ?? "") \($0["id"] ?? "")"
            }
        }
    }
}
