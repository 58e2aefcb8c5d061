import Foundation
import KalijAddress
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Asking for vCards and pictures (XEP-0054, XEP-0084, XEP-0153).
struct FetchProfileTests {
    private static let told = "profiles.told"
    private static let romeo = StepHarness.romeo

    @Test("a contact's picture is fetched when it is asked for, from the node, and is a file named by its hash")
    func node() throws {
        let harness = try StepHarness.withRomeo()
        let picture = try Avatar.png(bytes: 200_000)
        try harness.publish(picture: picture)
        #expect(try harness.pictures() == [])
        try harness.want(FetchProfile(.received(Self.romeo), vcard: false))
        let request = try harness.request(try harness.open(Self.told))
        #expect(request["to"] == Self.romeo)
        let items = request.child("pubsub", "http://jabber.org/protocol/pubsub")?.child("items")
        #expect((items?["node"], items?.child("item")?["id"]) == ("urn:xmpp:avatar:data", picture.hash))
        let events = try harness.reply(to: Self.told, StepHarness.item(picture.bytes, id: picture.hash))
        #expect(try harness.outcome() == .done)
        #expect(events.told(ProfileChanged.self).count == 1)
        let file = try #require(try harness.profile()?.avatarFile)
        #expect(try bytes(of: file) == picture.bytes)
        #expect(try harness.pictures() == ["\(harness.account.id)/\(picture.hash)"])
        try harness.want(FetchProfile(.received(Self.romeo), vcard: false), id: "again")
        #expect(try harness.outcome("again") == .done, "nobody is asked twice")
        // Another picture: the file of the former one goes.
        try harness.publish(picture: try Avatar.png("other"))
        #expect(try harness.pictures() == [])
        #expect(try harness.profile()?.avatarFile == nil)
    }

    private func bytes(of file: String) throws -> [UInt8] {
        let handle = try #require(fopen(file, "r"))
        defer { fclose(handle) }
        var bytes = [UInt8](repeating: 0, count: 300_000)
        let count = fread(&bytes, 1, bytes.count, handle)
        return Array(bytes[..<count])
    }

    @Test("bytes that are not what the hash says, no picture at all, or too many: refused, and no file is written")
    func refused() throws {
        let wanted = try Avatar.png()
        let large = try Avatar.png().bytes + [UInt8](repeating: 1, count: 262_144)
        for (bytes, reason) in [
            (try Avatar.png("forged").bytes, "the picture of romeo@example.net is not what its hash says"),
            (Array("<svg/>".utf8), "the picture is neither PNG nor JPEG, GIF or WebP"),
            (large, "the picture has \(large.count) bytes, at most 262144 are allowed"),
        ] {
            let harness = try StepHarness.withRomeo()
            try harness.publish(picture: wanted)
            try harness.want(FetchProfile(.received(Self.romeo), vcard: false))
            try harness.reply(to: Self.told, StepHarness.item(bytes, id: wanted.hash))
            #expect(try harness.outcome() == .failed(reason))
            #expect(try harness.pictures() == [])
        }
        let harness = try StepHarness.withRomeo()
        try harness.publish(picture: wanted)
        try harness.want(FetchProfile(.received(Self.romeo), vcard: false))
        // Somebody else knows the id of the request, and answers.
        try harness.reply(to: Self.told, StepHarness.item(wanted.bytes, id: wanted.hash), from: "mallory@example.com")
        #expect(try harness.outcome() == .pending)
        try harness.publish(picture: try Avatar.png("newer"))
        try harness.reply(to: Self.told, StepHarness.item(wanted.bytes, id: wanted.hash))
        #expect(try harness.outcome() == .failed("romeo@example.net shows another picture by now"))
        #expect(try harness.pictures() == [])
    }

    @Test("a stranger's picture is in the vCard; the vCard is kept without it, and says what it says")
    func vCard() throws {
        let harness = try StepHarness.withRomeo()
        let stranger = "tybalt@example.com"
        let picture = try Avatar.png()
        try harness.want(FetchProfile(.received(stranger)))
        try harness.reply(
            to: Self.told,
            StepHarness.card(
                """
                <FN>Tybalt</FN><N><FAMILY>Capulet</FAMILY><GIVEN/></N><EMAIL><INTERNET/><USERID>t@example.com</USERID></EMAIL>\
                <ADR><STREET>Via 1</STREET><CTRY>IT</CTRY></ADR><X-ODD>odd</X-ODD>
                """, picture.bytes), from: stranger)
        #expect(try harness.outcome() == .done)
        let profile = try #require(try harness.profile(stranger))
        #expect(profile.avatar == picture.hash)
        #expect(profile.avatarFile != nil)
        #expect(
            profile.vcard?.texts == [
                "FN": ["Tybalt"], "N": ["Capulet"], "EMAIL": ["t@example.com"], "ADR": ["Via 1, IT"], "X-ODD": ["odd"],
            ])
        #expect(profile.name == "Tybalt")
        #expect(String(decoding: profile.card ?? [], as: UTF8.self).contains("BINVAL") == false)
        // Another look: there is another picture, and then none.
        let other = try Avatar.png("other")
        try harness.want(FetchProfile(.received(stranger)), id: "again")
        try harness.reply(to: Self.told, StepHarness.card("", other.bytes), from: stranger)
        #expect(try harness.pictures() == ["\(harness.account.id)/\(other.hash)"])
        try harness.want(FetchProfile(.received(stranger)), id: "once more")
        try harness.reply(to: Self.told, StepHarness.card(), from: stranger)
        #expect(try harness.pictures() == [])
        #expect(try harness.profile(stranger)?.avatar == nil)
        // Without a picture there, the node may have one.
        try harness.reply(
            to: Self.told,
            """
            <pubsub xmlns='http://jabber.org/protocol/pubsub'><items node='urn:xmpp:avatar:metadata'><item id='\(other.hash)'>\
            <metadata xmlns='urn:xmpp:avatar:metadata'><info id='\(other.hash)' bytes='21' type='image/png'/></metadata></item>\
            </items></pubsub>
            """, from: stranger)
        try harness.reply(to: Self.told, StepHarness.item(other.bytes, id: other.hash), from: stranger)
        #expect(try harness.outcome("once more") == .done)
        #expect(try harness.pictures().count == 1)
    }

    @Test("no vCard, a vCard that nobody may read, a picture that is none, a vCard that is too large")
    func odd() throws {
        let harness = try StepHarness.withRomeo()
        try harness.want(FetchProfile(.received(Self.romeo)), id: "none")
        try harness.refuse(request: Self.told, condition: "item-not-found", from: Self.romeo)
        try harness.refuse(request: Self.told, condition: "forbidden", from: Self.romeo)
        #expect(try harness.outcome("none") == .done)
        try harness.want(FetchProfile(.received(Self.romeo)), id: "forbidden")
        try harness.refuse(request: Self.told, condition: "forbidden", from: Self.romeo)
        guard case .failed(let reason)? = try harness.outcome("forbidden") else {
            Issue.record("not failed")
            return
        }
        #expect(reason.hasPrefix("the vCard of romeo@example.net cannot be had: "))
        try harness.want(FetchProfile(.received(Self.romeo)), id: "svg")
        try harness.reply(to: Self.told, StepHarness.card("<FN>Romeo</FN>", Array("<svg/>".utf8)))
        #expect(try harness.outcome("svg") == .done)
        #expect(try harness.profile()?.name == "Romeo")
        #expect(try harness.profile()?.avatar == nil)
        try harness.want(FetchProfile(.received(Self.romeo)), id: "large")
        try harness.reply(
            to: Self.told, StepHarness.card("<DESC>\(String(repeating: "a", count: 70_000))</DESC>"))
        try harness.refuse(request: Self.told, condition: "item-not-found", from: Self.romeo)
        #expect(try harness.outcome("large") == .done)
        #expect(try harness.profile()?.vcard == nil)
        try harness.want(FetchProfile(.received("nobody@example.com"), vcard: false), id: "unknown")
        #expect(try harness.outcome("unknown") == .failed("no picture of nobody@example.com is known"))
    }

    @Test("a contact's vCard without the picture of the node: the node is asked, too; also after a lost session")
    func both() throws {
        let harness = try StepHarness.withRomeo()
        let picture = try Avatar.png()
        try harness.publish(picture: picture)
        try harness.want(FetchProfile(.received(Self.romeo)))
        try harness.reply(to: Self.told, StepHarness.card("<FN>Romeo</FN>", try Avatar.png("older").bytes))
        #expect(try harness.outcome() == .pending)
        try harness.bind(resumeID: "session-2", answered: .all)
        try harness.reply(to: Self.told, StepHarness.item(picture.bytes, id: picture.hash))
        #expect(try harness.outcome() == .done)
        #expect(try harness.profile()?.vcard?.fullName == "Romeo")
        #expect(try harness.pictures().count == 1)
    }

    @Test("files without a row, of steps that were undone or of killed processes, go with the next picture")
    func orphans() throws {
        let harness = try StepHarness.withRomeo()
        let files = PictureFiles(of: harness.account.id, in: harness.database)
        try files.store(try Avatar.png("orphan"))
        let picture = try Avatar.png()
        try harness.publish(picture: picture)
        try harness.want(FetchProfile(.received(Self.romeo), vcard: false))
        try harness.reply(to: Self.told, StepHarness.item(picture.bytes, id: picture.hash))
        #expect(try harness.pictures() == ["\(harness.account.id)/\(picture.hash)"])
    }

    @Test("a logout and a removal take the pictures from the disk", arguments: [true, false])
    func loggedOut(_ isRemoved: Bool) throws {
        let harness = try StepHarness.withRomeo()
        let picture = try Avatar.png()
        try harness.publish(picture: picture)
        try harness.want(FetchProfile(.received(Self.romeo), vcard: false))
        try harness.reply(to: Self.told, StepHarness.item(picture.bytes, id: picture.hash))
        #expect(try harness.pictures().count == 1)
        _ = try harness.logoutSteps.logOut(removing: isRemoved)
        #expect(try harness.pictures() == [])
        #expect(try harness.number("SELECT count(*) FROM profile") == (isRemoved ? 0 : 1))
    }
}
