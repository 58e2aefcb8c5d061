import KalijAddress
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// What others say about themselves: XEP-0172, XEP-0084, XEP-0153.
struct ProfileTests {
    @Test("the nodes of contacts are asked for: +notify is among the announced features")
    func announced() {
        let info = Features.passive.capabilities.info
        #expect(info.supports("http://jabber.org/protocol/nick+notify"))
        #expect(info.supports("urn:xmpp:avatar:metadata+notify"))
    }

    @Test("XEP-0172 4.3: a published nickname is a row, told once; no message is stored")
    func published() throws {
        let harness = try StepHarness.withRomeo()
        #expect(
            try harness.publish(nick: " Romeo \n M. ") == [
                "profile: romeo@example.net is called \"Romeo M.\", without a picture"
            ])
        #expect(try harness.publish(nick: "Romeo M.").isEmpty, "told at each login")
        #expect(try harness.profile()?.nick == "Romeo M.")
        #expect(try harness.number("SELECT count(*) FROM message") == 0)
        #expect(try harness.publish(nick: "").count == 1)
        #expect(try harness.profile()?.name == nil)
        try harness.publish(nick: "Romeo")
        try harness.receive(
            "<message from='romeo@example.net' type='headline'><event xmlns='http://jabber.org/protocol/pubsub#event'><purge node='http://jabber.org/protocol/nick'/></event></message>"
        )
        #expect(try harness.profile()?.nick == nil)
    }

    @Test("a nickname is too long, of another namespace, or of a client and not of the person: nothing changes")
    func forgedNames() throws {
        let harness = try StepHarness.withRomeo()
        try harness.publish(nick: String(repeating: "é", count: 600))
        try harness.publish("http://jabber.org/protocol/nick", "<item><nick>Romeo</nick></item>")
        try harness.publish(nick: "Romeo", from: "romeo@example.net/orchard")
        try harness.publish("http://jabber.org/protocol/nick", "<item/>")
        #expect(try harness.profile()?.nick == nil)
        // Everybody speaks for himself alone.
        try harness.publish(nick: "Romeo", from: "mallory@example.com")
        #expect(try harness.profile() == nil)
        #expect(try harness.profile("mallory@example.com")?.nick == "Romeo")
    }

    @Test("XEP-0172 4.1, 4.2: a nickname in a message or in a request is a hint, which a published nickname beats")
    func hints() throws {
        let harness = try StepHarness.withRomeo()
        let nick = "<nick xmlns='http://jabber.org/protocol/nick'>Iago</nick>"
        try harness.receive("<presence from='iago@example.net' type='subscribe'>\(nick)</presence>")
        #expect(try harness.profile("iago@example.net")?.name == "Iago")
        let message = "<message from='romeo@example.net/orchard' type='chat' id='m'><body>Hi</body>\(nick)</message>"
        #expect(try harness.receive(message).told.contains("message Hi"))
        #expect(try harness.profile()?.name == "Iago")
        try harness.publish(nick: "Romeo")
        #expect(try harness.profile()?.name == "Romeo")
        try harness.receive(message)
        #expect(try harness.profile()?.name == "Romeo")
        // Occupants have nicknames of another kind; presence never has (4.1).
        try harness.receive(
            "<message from='room@example.net/thief' type='groupchat' id='g'><body>Hi</body>\(nick)</message>")
        try harness.receive(
            "<message from='room@example.net/thief' type='chat' id='p'><body>Hi</body>\(nick)<x xmlns='http://jabber.org/protocol/muc#user'/></message>"
        )
        try harness.receive("<presence from='tybalt@example.net/x'>\(nick)</presence>")
        #expect(try harness.profile("room@example.net") == nil)
        #expect(try harness.profile("tybalt@example.net") == nil)
    }

    @Test("XEP-0084 4.2: of the offered pictures the first that may be shown; an empty element is no picture")
    func metadata() throws {
        let harness = try StepHarness.withRomeo()
        let (first, second) = (try Avatar.png("1"), try Avatar.png("2"))
        func info(_ picture: Avatar, _ attributes: String) -> String { "<info id='\(picture.hash)' \(attributes)/>" }
        func publish(_ infos: String) throws -> String? {
            try harness.publish(
                "urn:xmpp:avatar:metadata",
                "<item id='x'><metadata xmlns='urn:xmpp:avatar:metadata'>\(infos)</metadata></item>")
            return try harness.profile()?.avatar
        }
        let good = info(second, "bytes='20' type='image/jpeg'")
        for bad in [
            info(first, "bytes='20' type='image/png' url='https://example.net/x'"),
            info(first, "bytes='262145' type='image/png'"), info(first, "bytes='0' type='image/png'"),
            info(first, "bytes='20' type='image/svg+xml'"), info(first, "bytes='20'"), info(first, "type='image/png'"),
            "<info id='../../kalij.db' bytes='20' type='image/png'/>",
            "<info id='\(first.hash.uppercased())' bytes='20' type='image/png'/>", "<info/>", "<pointer/>",
        ] {
            #expect(try publish(bad + good) == second.hash, "\(bad)")
            #expect(try publish(bad) == nil, "\(bad)")
        }
        #expect(try publish(info(first, "bytes='262144' type='image/webp'") + good) == first.hash)
        try harness.publish("urn:xmpp:avatar:metadata", "<retract id='\(second.hash)'/>")
        #expect(try harness.profile()?.avatar == first.hash, "an older item is gone")
        try harness.publish("urn:xmpp:avatar:metadata", "<retract id='\(first.hash)'/>")
        #expect(try harness.profile()?.avatar == nil)
        #expect(try harness.queue().filter { $0.hasPrefix("iq get vCard") || $0.hasPrefix("iq get pubsub") }.isEmpty)
    }

    @Test("XEP-0153: presence tells of a picture in the vCard, also of strangers and occupants; a node is newer")
    func presence() throws {
        let harness = try StepHarness.withRomeo()
        let (old, new) = (try Avatar.png("old"), try Avatar.png("new"))
        func come(_ from: String, _ photo: String?, _ more: String = "") throws {
            let photo = photo.map { "<photo>\($0)</photo>" } ?? ""
            try harness.receive(
                "<presence from='\(from)'><x xmlns='vcard-temp:x:update'>\(photo)</x>\(more)</presence>")
        }
        try come("romeo@example.net/orchard", old.hash)
        #expect(try harness.profile()?.avatar == old.hash)
        try come("romeo@example.net/orchard", nil)
        try come("romeo@example.net/orchard", "../../secret")
        #expect(try harness.profile()?.avatar == old.hash, "no picture is told of")
        try come("romeo@example.net/orchard", "")
        #expect(try harness.profile()?.avatar == nil)
        try harness.publish(picture: new)
        try come("romeo@example.net/orchard", old.hash)
        try come("romeo@example.net/orchard", "")
        #expect(try harness.profile()?.avatar == new.hash)
        let occupant = "<x xmlns='http://jabber.org/protocol/muc#user'><item/></x>"
        try come("room@example.net/thief", old.hash, occupant)
        try come("room@example.net", new.hash)
        try come("tybalt@example.net/x", old.hash)
        #expect(try harness.profile("room@example.net/thief")?.avatar == old.hash)
        #expect(try harness.profile("room@example.net")?.avatar == new.hash)
        #expect(try harness.profile("tybalt@example.net")?.avatar == old.hash)
        try come("juliet@example.org/phone", old.hash)
        #expect(try harness.profile("juliet@example.org") == nil, "the own node tells")
    }

    @Test("of strangers the newest thousand are kept, and all contacts")
    func strangers() throws {
        let harness = try StepHarness.withRomeo()
        try harness.publish(nick: "Romeo")
        _ = try harness.runner.run("test", for: harness.account) { step in
            for number in 0..<EngineLimits.keptRows {
                try Profiles(step: step).hinted(.received("s\(number)@example.com"), "S")
            }
        }
        #expect(try harness.number("SELECT count(*) FROM profile") == EngineLimits.keptRows + 1)
        try harness.receive(
            "<message from='new@example.com/x' type='chat'><body>Hi</body><nick xmlns='http://jabber.org/protocol/nick'>N</nick></message>"
        )
        #expect(try harness.number("SELECT count(*) FROM profile") == EngineLimits.keptRows + 1)
        #expect(try harness.profile("s0@example.com") == nil)
        #expect(try harness.profile("new@example.com")?.name == "N")
        #expect(try harness.profile()?.name == "Romeo")
    }

    @Test("pictures are what their first bytes say, and of a bounded size")
    func signatures() throws {
        #expect(try Avatar.png().type == "image/png")
        #expect(try Avatar([0xFF, 0xD8, 0xFF, 0xE0]).type == "image/jpeg")
        #expect(try Avatar(Array("GIF89a...".utf8)).type == "image/gif")
        #expect(try Avatar(Array("RIFF....WEBPVP8 ".utf8)).type == "image/webp")
        #expect(try Avatar(Array("GIF89a".utf8)).hash == "25c9b37ae36a0a08318d4dca7ca57ea98d776821")
        for bad in ["", "<svg xmlns='http://www.w3.org/2000/svg'/>", "BM....", "RIFF....WAVE", "GIF88a", "\u{89}PNG"] {
            #expect(throws: IntentFailure.self) { try Avatar(Array(bad.utf8)) }
        }
        _ = try Avatar.png(bytes: 262_144 - 17)
        #expect(throws: IntentFailure.self) { try Avatar.png(bytes: 262_144 - 16) }
        for bad in ["iVBORw0KGgo", "%%%", String(repeating: "A", count: 600_000)] {
            #expect(throws: IntentFailure.self) { try Avatar(base64: bad) }
        }
    }
}
