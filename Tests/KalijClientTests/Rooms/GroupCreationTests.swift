import KalijAddress
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// The creation of a group is readable at each stage; a failed one remains until the user decides.
@Suite struct GroupCreationTests {
    private let room: RoomHarness

    init() throws { room = try RoomHarness(joining: false) }

    private var creations: [GroupCreation] {
        get throws { try Rooms(room.harness.database).creations(of: room.harness.account) }
    }

    private func create(_ id: String = "make") throws {
        #expect(
            try room.perform(CreateRoom(title: "Balcony", inviting: [JID("nurse@example.org")]), id: id) == .pending)
    }

    private func failToFind() throws {
        try room.refuse("rooms.planned", "service-unavailable", from: "example.org")
    }

    @Test("a creation has its name, its people and its stage from the start")
    func stages() throws {
        try create()
        let creation = try #require(try creations.first)
        #expect(creation.id == "make" && creation.title == "Balcony" && creation.stage == .finding)
        #expect(creation.people.map(\.description) == ["nurse@example.org"] && creation.reason == nil)
    }

    @Test("a failed creation remains with its reason, tries again under a new intent, and goes when the user says so")
    func failed() throws {
        try create()
        try failToFind()
        #expect(try creations.map(\.stage) == [.failed])
        #expect(try creations.first?.reason?.code == .noRoomService)
        #expect(try room.outcome("make") == .failed("the server has no service for rooms"))
        #expect(try room.perform(RetryGroup("make"), id: "again") == .pending)
        #expect(try creations.map(\.id) == ["again"] && creations.map(\.stage) == [.finding])
        #expect(try creations.first?.reason == nil)
        // Only what has failed can be removed.
        #expect(try room.perform(ForgetGroup("again"), id: "early") != .done)
        try failToFind()
        #expect(try room.perform(ForgetGroup("again"), id: "forget") == .done)
        #expect(try creations.isEmpty)
    }

    @Test(
        "the picture is stored with the creation, and set before anybody is added; a room that refuses it is a group all the same",
        arguments: [true, false])
    func pictured(_ isTaken: Bool) throws {
        let harness = room.harness
        let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
        let nurse = try JID("nurse@example.org")
        #expect(try room.perform(CreateRoom(title: "Balcony", inviting: [nurse], avatar: png), id: "make") == .pending)
        let items = "http://jabber.org/protocol/disco#items"
        try answer("<query xmlns='\(items)'><item jid='muc.example.org'/></query>", "example.org")
        let muc = "<identity category='conference' type='text'/><feature var='http://jabber.org/protocol/muc'/>"
        try answer("<query xmlns='\(RoomHarness.items)'>\(muc)</query>", "muc.example.org")
        let jid = try #require(try creations.first?.room).description
        try harness.receive(
            """
            <presence from='\(jid)/juliet'><x xmlns='http://jabber.org/protocol/muc#user'>\
            <item affiliation='owner' role='moderator'/><status code='110'/><status code='201'/></x></presence>
            """)
        try harness.receive("<message from='\(jid)' type='groupchat'><subject/></message>")
        let fields = ["persistentroom", "membersonly", "whois", "publicroom"].map {
            "<field var='muc#roomconfig_\($0)'/>"
        }
        try answer(
            """
            <query xmlns='http://jabber.org/protocol/muc#owner'><x xmlns='jabber:x:data' type='form'>\
            \(fields.joined())</x></query>
            """, jid)
        try answer("", jid)
        let features = (RoomHarness.group + ["muc_persistent"]).map { "<feature var='\($0)'/>" }.joined()
        try answer("<query xmlns='\(RoomHarness.items)'>\(muc)\(features)</query>", jid)
        #expect(try creations.map(\.stage) == [.configuring])
        #expect(try harness.text("SELECT 1 FROM queue WHERE CAST(stanza AS TEXT) LIKE '%vcard-temp%image/png%'") != nil)
        if isTaken {
            try answer("", jid)
        } else {
            try room.refuse("rooms.planned", "feature-not-implemented", from: jid)
        }
        #expect(try creations.map(\.stage) == [.adding])
        let rooms = Rooms(harness.database)
        #expect(try rooms.room(createdBy: "make", for: harness.account) == nil)
        try answer("", jid)
        #expect(try creations.isEmpty)
        #expect(try rooms.room(createdBy: "make", for: harness.account)?.description == jid)
        let made = try rooms.room(JID(jid), of: harness.account)
        #expect(made?.isGroup ?? false)
        if isTaken {
            #expect(try room.outcome("make") == .done)
        } else {
            let failure = try HistoryReader(harness.database).failure(of: "make", by: harness.account)
            #expect(failure?.code == .groupWithoutPicture)
        }
    }

    /// The last request of the plan is answered with `content`.
    private func answer(_ content: String, _ sender: String) throws {
        let id = try #require(try room.harness.waiting("rooms.planned").last)
        try room.harness.receive("<iq type='result' from='\(sender)' id='\(id)'>\(content)</iq>")
    }

    @Test("of many failed creations the newest remain")
    func bounded() throws {
        for number in 0..<23 {
            try create("make\(number)")
            try failToFind()
        }
        #expect(try creations.map(\.id) == (3..<23).map { "make\($0)" })
    }

    @Test("why a change has failed is a code for programs, and words for others")
    func reasons() throws {
        let joined = try RoomHarness.joined()
        let jid = try joined.room.jid
        #expect(try joined.perform(SetRole(jid, "romeo@example.net", "none"), id: "remove") == .pending)
        try joined.refuse("rooms.change", "forbidden", type: "auth")
        let reader = HistoryReader(joined.harness.database)
        let reason = try #require(try reader.failure(of: "remove", by: joined.harness.account))
        #expect(reason.code == .roomForbids && reason.values.first == RoomHarness.room)
        #expect(
            try joined.outcome("remove") == .failed("\(RoomHarness.room) does not let you do that: forbidden (auth)"))
    }

    @Test("a name that the room has taken applies at once: its description may have to wait")
    func renamed() throws {
        let joined = try RoomHarness.joined()
        #expect(try joined.perform(ConfigureRoom(joined.room.jid, title: "Balcony"), id: "rename") == .pending)
        let form = try #require(try joined.harness.waiting("rooms.form").last)
        try joined.harness.receive(
            """
            <iq type='result' from='\(RoomHarness.room)' id='\(form)'><query xmlns='http://jabber.org/protocol/muc#owner'>\
            <x xmlns='jabber:x:data' type='form'><field var='muc#roomconfig_roomname'/></x></query></iq>
            """)
        let change = try #require(try joined.harness.waiting("rooms.change").last)
        try joined.harness.receive("<iq type='result' from='\(RoomHarness.room)' id='\(change)'/>")
        #expect(try joined.outcome("rename") == .done)
        #expect(try joined.room.name == "Balcony")
    }

    @Test("a room that answers every request with an error leaves no change without an outcome and a code")
    func refusals() throws {
        let joined = try RoomHarness.joined()
        let jid = try joined.room.jid
        let intents: [(any Intent, handler: String, code: Reason.Code)] = [
            (SetRole(jid, "romeo@example.net", "admin"), "rooms.change", .roomCannot),
            (ConfigureRoom(jid, title: "Balcony"), "rooms.form", .roomCannot),
            (SetSubject(jid, "Roses"), "rooms.subject", .subjectRefused),
            (SetRoomPicture(jid, avatar: []), "rooms.change", .roomCannot),
            (Invite(jid, [try JID("nurse@example.org")]), "rooms.invited", .roomCannot),
            (DestroyRoom(jid), "rooms.change", .roomCannot),
        ]
        for (number, (intent, handler, code)) in intents.enumerated() {
            #expect(try joined.perform(intent, id: "\(number)") == .pending)
            // The ping behind a subject is addressed to the own occupant.
            let sender = intent is SetSubject ? RoomHarness.room + "/juliet" : RoomHarness.room
            try joined.refuse(handler, "feature-not-implemented", from: sender)
            let reader = HistoryReader(joined.harness.database)
            #expect(try reader.failure(of: "\(number)", by: joined.harness.account)?.code == code)
        }
    }
}

@Suite struct RoomRightsTests {
    private func rights(_ affiliation: String, _ role: String, _ change: (inout RoomInfo) -> Void = { _ in })
        -> RoomRights
    {
        var info = RoomInfo()
        (info.isMembersOnly, info.isNonAnonymous) = (true, true)
        change(&info)
        return RoomRights(
            of: Occupant(nick: "I", jid: nil, occupantID: nil, affiliation: affiliation, role: role), in: info)
    }

    @Test("an owner may do everything but remove an owner; an admin manages members; a member leaves")
    func affiliations() {
        let (owner, admin, member) = (
            rights("owner", "moderator"), rights("admin", "moderator"), rights("member", "participant")
        )
        #expect(owner.configures && owner.destroys && owner.appoints && owner.invites && owner.setsSubject)
        #expect(["owner", "admin", "member", "none"].map(owner.removes) == [false, true, true, true])
        #expect(!admin.configures && !admin.destroys && !admin.appoints && admin.invites && admin.setsSubject)
        #expect(["owner", "admin", "member", "none"].map(admin.removes) == [false, false, true, true])
        #expect(!member.invites && !member.setsSubject && !member.removes("member"))
    }

    @Test("the rights exclude what the room does not support")
    func abilities() {
        #expect(!rights("owner", "moderator").setsPicture && !rights("owner", "moderator").moderatesMessages)
        #expect(rights("owner", "moderator") { $0.hasPicture = true }.setsPicture)
        #expect(rights("admin", "moderator") { $0.moderatesAsBefore = true }.moderatesMessages)
        #expect(rights("none", "participant") { $0.isMembersOnly = false }.invites)
        #expect(!rights("none", "visitor") { $0.isMembersOnly = false }.invites)
    }

    @Test("the rights are those of the own occupant, and there are none outside")
    func own() throws {
        let room = try RoomHarness.joined()
        let jid = try room.room.jid
        let reader = Rooms(room.harness.database)
        #expect(try reader.rights(in: jid, for: room.harness.account)?.affiliation == "member")
        try room.perform(LeaveRoom(jid), id: "leave")
        #expect(try reader.rights(in: jid, for: room.harness.account) == nil)
    }
}
