import Foundation
import KalijAddress
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// The account's own nickname, picture and vCard.
struct SetProfileTests {
    private static let published = "profiles.published"
    private static let juliet = "juliet@example.org"

    private func request(_ harness: StepHarness) throws -> Element {
        try harness.request(try harness.open(Self.published)).children[0]
    }

    private func publish(_ harness: StepHarness) throws -> (node: String?, content: Element?) {
        let publish = try request(harness).child("publish")
        return (publish?["node"], publish?.child("item")?.children.first)
    }

    @Test("a name: the vCard with all that it has, then the node; a kill and a lost session in between do no harm")
    func name() throws {
        let harness = try StepHarness.withRomeo()
        try harness.want(SetProfile(name: "Juliet & co"))
        #expect(try request(harness).isNamed("vCard", "vcard-temp"))
        let kept = "<FN>Juliet Capulet</FN><X-ODD a='b'><PART/></X-ODD>"
        try harness.reply(to: Self.published, StepHarness.card(kept, try Avatar.png().bytes), from: nil)
        let card = try request(harness)
        #expect(card.child("NICKNAME")?.text == "Juliet & co")
        #expect(card.child("FN")?.text == "Juliet Capulet")
        #expect(card.child("X-ODD")?["a"] == "b")
        #expect(card.child("X-ODD")?.child("PART") != nil)
        #expect(
            try card.child("PHOTO")?.child("BINVAL").map { try Avatar(base64: $0.text).hash } == Avatar.png().hash)
        try harness.bind(resumeID: "session-2", answered: .all)
        #expect(try request(harness).child("NICKNAME") != nil, "sent again")
        try harness.fulfil(Self.published)
        let (node, nick) = try publish(harness)
        #expect(node == "http://jabber.org/protocol/nick")
        #expect(nick?.text == "Juliet & co")
        #expect(try harness.outcome() == .pending)
        try harness.fulfil(Self.published)
        #expect(try harness.outcome() == .done)
        let profile = try harness.profile(Self.juliet)
        #expect(profile?.nick == "Juliet & co")
        #expect(profile?.vcard?.fullName == "Juliet Capulet")
    }

    @Test("a picture: the data, then the metadata with the hash, the size and the type; and again none")
    func picture() throws {
        let harness = try StepHarness.withRomeo()
        let picture = try Avatar.png(bytes: 40_000)
        try harness.want(SetProfile(avatar: picture.bytes))
        let (node, data) = try publish(harness)
        #expect(node == "urn:xmpp:avatar:data")
        #expect(try data.map { try Avatar(base64: $0.text).hash } == picture.hash)
        #expect(try request(harness).child("publish")?.child("item")?["id"] == picture.hash)
        try harness.fulfil(Self.published)
        let info = try publish(harness).content?.child("info")
        #expect(info?["id"] == picture.hash)
        #expect(info?["bytes"] == "\(picture.bytes.count)")
        #expect(info?["type"] == "image/png")
        try harness.fulfil(Self.published)
        #expect(try harness.outcome() == .done)
        #expect(try harness.profile(Self.juliet)?.avatarFile != nil)
        try harness.want(SetProfile(avatar: []), id: "none")
        #expect(try publish(harness).content?.children.isEmpty == true)
        try harness.fulfil(Self.published)
        #expect(try harness.outcome("none") == .done)
        #expect(try harness.profile(Self.juliet)?.avatar == nil)
        #expect(try harness.pictures() == [])
    }

    @Test("another device's changes come by the own nodes; nobody else changes the account's profile")
    func elsewhere() throws {
        let harness = try StepHarness.withRomeo()
        try harness.publish(nick: "Jule", from: Self.juliet)
        try harness.publish(picture: try Avatar.png(), from: Self.juliet)
        #expect(try harness.profile(Self.juliet)?.nick == "Jule")
        #expect(try harness.profile(Self.juliet)?.avatar == Avatar.png().hash)
        try harness.publish(nick: "Fool", from: "juliet@example.org/phone")
        try harness.publish(nick: "Fool", from: "mallory@example.com")
        #expect(try harness.profile(Self.juliet)?.nick == "Jule")
    }

    @Test("without vCards a name goes to the node alone; without nodes the error says so")
    func missing() throws {
        let harness = try StepHarness.withRomeo()
        try harness.want(SetProfile(name: "Juliet"))
        try harness.refuse(request: Self.published, condition: "service-unavailable")
        #expect(try publish(harness).node == "http://jabber.org/protocol/nick")
        try harness.refuse(request: Self.published, condition: "service-unavailable")
        guard case .failed(let reason)? = try harness.outcome() else {
            Issue.record("not failed")
            return
        }
        #expect(reason.hasPrefix("the server has no personal nodes (XEP-0163)"))
        #expect(try harness.profile(Self.juliet) == nil)
        try harness.want(SetProfile(vcard: ["FN": "Juliet"]), id: "card")
        try harness.refuse(request: Self.published, condition: "feature-not-implemented")
        #expect(try harness.outcome("card") == .failed("the server keeps no vCards (XEP-0054)"))
    }

    @Test("changes follow one another, so the later has the last word; a change that fails does not stop the next")
    func order() throws {
        let harness = try StepHarness.withRomeo()
        let (first, second) = (try Avatar.png("1"), try Avatar.png("2"))
        try harness.want(SetProfile(name: "Juliet", avatar: first.bytes), id: "1")
        try harness.want(SetProfile(avatar: second.bytes), id: "2")
        try harness.want(SetProfile(name: "Jule"), id: "3")
        #expect(try harness.number("SELECT count(*) FROM request WHERE name = 'profiles.published'") == 1)
        try harness.reply(to: Self.published, StepHarness.card("<NICKNAME>Juliet</NICKNAME><FN>J</FN>"), from: nil)
        try harness.fulfil(Self.published)
        #expect(try publish(harness).node == "urn:xmpp:avatar:data")
        try harness.refuse(request: Self.published, condition: "resource-constraint")
        guard case .failed? = try harness.outcome("1") else {
            Issue.record("not failed")
            return
        }
        #expect(try request(harness).child("publish")?.child("item")?["id"] == second.hash)
        try harness.bind(resumeID: "session-2", answered: .all)
        try harness.fulfil(Self.published)
        try harness.fulfil(Self.published)
        #expect(try harness.outcome("2") == .done)
        #expect(try request(harness).isNamed("vCard", "vcard-temp"))
        for number in 4...11 { try harness.want(SetProfile(name: "J \(number)"), id: "\(number)") }
        #expect(try harness.outcome("11") == .failed("8 changes of the profile wait already"))
        _ = try harness.logoutSteps.logOut(removing: false)
        #expect(try harness.outcome("10") != .pending)
        #expect(try harness.number("SELECT count(*) FROM profile_change") == 0)
        #expect(try harness.number("SELECT count(*) FROM dead_letter") == 0)
    }

    @Test("texts of the vCard are set and removed; an unchanged vCard is not written")
    func texts() throws {
        let harness = try StepHarness.withRomeo()
        try harness.want(SetProfile(vcard: ["URL": "https://example.org", "DESC": "", "FN": "J"]))
        try harness.reply(to: Self.published, StepHarness.card("<FN>Juliet</FN><DESC>old</DESC><URL/>"), from: nil)
        let card = try request(harness)
        #expect(card.children.map { "\($0.name)=\($0.text)" } == ["FN=J", "URL=https://example.org"])
        try harness.fulfil(Self.published)
        #expect(try harness.outcome() == .done)
        try harness.want(SetProfile(vcard: ["FN": "J"]), id: "same")
        try harness.reply(to: Self.published, StepHarness.card("<FN>J</FN>"), from: nil)
        #expect(try harness.outcome("same") == .done)
    }

    @Test("what no server would take is refused before anything is sent")
    func refused() throws {
        let harness = try StepHarness.withRomeo()
        for bad in [
            SetProfile(), SetProfile(name: String(repeating: "a", count: 1024)), SetProfile(name: "a\u{0}"),
            SetProfile(avatar: Array("BM".utf8)), SetProfile(vcard: ["PHOTO": "x"]),
            SetProfile(vcard: ["FN": "a\u{1}"]),
            SetProfile(avatar: try Avatar.png().bytes + [UInt8](repeating: 0, count: 262_144)),
        ] {
            #expect(throws: IntentFailure.self) { try bad.check() }
        }
        let large = try Avatar.png(bytes: 50_000)
        try harness.want(SetProfile(avatar: large.bytes))
        #expect(
            try harness.outcome()
                == .failed("the server takes pictures of at most 44250 bytes, this one has \(large.bytes.count)"))
        #expect(try harness.number("SELECT count(*) FROM request WHERE name = 'profiles.published'") == 0)
        try harness.offer(largestStanza: 400_000)
        try harness.want(SetProfile(avatar: large.bytes), id: "announced")
        #expect(try harness.outcome("announced") == .pending)
    }

    @Test("the keys of run --json")
    func keys() throws {
        let text = #"{"command":"profile","name":"Juliet","avatar":"","vcard":{"FN":"J"}}"#
        let intent = try JSONDecoder().decode(SetProfile.self, from: Data(text.utf8))
        #expect(intent.nick == "Juliet" && intent.avatar == "" && intent.vcard == ["FN": "J"])
        let lookUp = try JSONDecoder().decode(FetchProfile.self, from: Data(#"{"contact":"romeo@example.net"}"#.utf8))
        #expect(lookUp.jid.description == "romeo@example.net")
        #expect(lookUp.vcard == nil)
    }
}
