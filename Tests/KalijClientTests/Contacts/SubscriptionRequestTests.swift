import KalijAddress
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// RFC 6121 section 3.
struct SubscriptionRequestTests {
    private static let romeo = "romeo@example.net"

    @discardableResult
    private func ask(
        _ harness: StepHarness, _ from: String = romeo, type: String = "subscribe", _ status: String = ""
    ) throws -> [String] {
        let words = status.isEmpty ? "" : "<status>\(status)</status>"
        return try harness.receive("<presence from='\(from)' type='\(type)'>\(words)</presence>").told(
            RequestChanged.self)
    }

    // MARK: Asked

    @Test("case 23: a request that the server repeats 1,000 times, and at each login, asks the user once")
    func once() throws {
        let harness = try StepHarness.withRoster()
        #expect(
            try ask(harness, Self.romeo, "It is me")
                == ["request: request: romeo@example.net asks to see when you are online: It is me"])
        for _ in 0..<1000 { #expect(try ask(harness).isEmpty) }
        for session in 2...4 {
            try harness.bind(resumeID: "session-\(session)", answered: .all)
            #expect(try ask(harness, Self.romeo + "/orchard").isEmpty)
        }
        #expect(try harness.requests() == [Self.romeo])
        #expect(try harness.subscriptions().isEmpty, "nothing is approved unasked")
    }

    @Test("a thousand strangers push out no friend; the next stranger asks when there is room")
    func flood() throws {
        let harness = try StepHarness.withRoster()
        try ask(harness)
        for number in 0..<1500 {
            try ask(harness, "stranger-\(number)@example.com", String(repeating: "x", count: 5000))
        }
        #expect(try harness.number("SELECT count(*) FROM subscription_request") == 1000)
        #expect(try harness.number("SELECT max(length(status)) FROM subscription_request") == 1000)
        #expect(try harness.requests().first == Self.romeo)
        try harness.want(DenyRequest(.received("stranger-0@example.com")))
        #expect(try ask(harness, "stranger-1499@example.com").count == 1)
    }

    @Test("a thousand strangers of one server keep out nobody of another: their newest request goes")
    func shares() throws {
        let harness = try StepHarness.withRoster()
        for number in 0..<1000 { try ask(harness, "stranger-\(number)@spam.example") }
        #expect(try ask(harness, "stranger-1000@spam.example").isEmpty)
        let told = try ask(harness, "honest@example.com")
        #expect(told.count == 2 && told.first?.contains("stranger-999@") == true, "\(told)")
        #expect(try harness.number("SELECT count(*) FROM subscription_request") == 1000)
        #expect(try harness.requests().last == "honest@example.com")
        // Servers with equal shares keep what they have.
        for number in 0..<1500 { try ask(harness, "stranger-\(number)@more.example") }
        #expect(try harness.requests().contains("honest@example.com"))
        let more = try harness.requests().count { $0.hasSuffix("more.example") }
        #expect((499...500).contains(more), "\(more)")
        #expect(try ask(harness, "last@example.net").count == 2)
    }

    @Test("a request from ourselves, from an address that is none, or of a blocked sender is none")
    func forged() throws {
        let harness = try StepHarness.withRoster()
        _ = try BlockedRows(database: harness.database, account: harness.account.id).add(.received("example.com"))
        for from in ["juliet@example.org", "juliet@example.org/phone", "@", "tybalt@example.com"] {
            #expect(try ask(harness, from).isEmpty, "\(from)")
        }
        #expect(try harness.requests().isEmpty)
    }

    @Test("a request that is taken back, or answered by another client, needs no answer")
    func closed() throws {
        let harness = try StepHarness.withRoster()
        try ask(harness)
        #expect(try ask(harness, type: "unsubscribe") == ["request: the request of romeo@example.net is closed"])
        try ask(harness)
        let effects = try harness.push("<item jid='romeo@example.net' subscription='from'/>")
        #expect(effects.told(RequestChanged.self) == ["request: the request of romeo@example.net is closed"])
        #expect(try harness.requests().isEmpty)
        #expect(try ask(harness).isEmpty, "a contact who sees our presence needs no answer")
    }

    // MARK: Answered

    @Test("an answer is sent once it is wanted, and is done when the server has it", arguments: [true, false])
    func answered(_ isAccepted: Bool) throws {
        let harness = try StepHarness.withRoster()
        try ask(harness)
        let effects =
            isAccepted
            ? try harness.want(AcceptRequest(.received(Self.romeo)))
            : try harness.want(DenyRequest(.received(Self.romeo)))
        #expect(effects.told(RequestChanged.self).count == 1)
        #expect(try harness.subscriptions() == [(isAccepted ? "subscribed " : "unsubscribed ") + Self.romeo])
        #expect(try harness.outcome() == .pending)
        #expect(try ask(harness).isEmpty, "the answer is on its way")
        try harness.fulfil("contacts.subscription")
        #expect(try harness.outcome() == .done)
        #expect(try harness.number("SELECT count(*) FROM subscription_owed") == 0)
        #expect(try ask(harness).count == 1, "a new request after the answer is a new question")
    }

    @Test("an answer that is lost with its session is sent again, before presence, and the user is not asked again")
    func lost() throws {
        let harness = try StepHarness.withRoster()
        try ask(harness)
        try harness.want(DenyRequest(.received(Self.romeo)))
        try harness.write()
        try harness.bind(resumeID: "session-2", answered: .all)
        #expect(try harness.subscriptions() == ["unsubscribed " + Self.romeo])
        #expect(try ask(harness).isEmpty)
        // Offline for long, without a connection: nothing leaves, and the next session sends it again.
        harness.clock.move(by: 4_000_000)
        while try harness.steps.expire(.unsent, until: harness.clock.now) != nil {}
        try harness.bind(resumeID: "session-3", answered: .all)
        #expect(try harness.subscriptions() == ["unsubscribed " + Self.romeo])
        #expect(try harness.number("SELECT count(*) FROM request WHERE name = 'contacts.subscription'") == 1)
        try harness.fulfil("contacts.subscription")
        #expect(try harness.outcome() == .done)
        try harness.bind(resumeID: "session-4", answered: .all)
        #expect(try harness.subscriptions().isEmpty)
    }

    @Test("of two answers the later one counts; nobody is answered who has not asked")
    func later() throws {
        let harness = try StepHarness.withRoster()
        try ask(harness, "nurse@example.org")
        try harness.want(AcceptRequest(.received("nurse@example.org")), id: "accept")
        try harness.want(AddContact(.received("nurse@example.org")), id: "add")
        try harness.want(RemoveContact(.received("nurse@example.org")), id: "remove")
        #expect(try harness.outcome("accept") == .failed("the contact was removed"))
        try harness.acknowledgeAll()
        try harness.want(AcceptRequest(.received(Self.romeo)))
        #expect(try harness.outcome() == .failed("romeo@example.net has not asked to see when you are online"))
        try harness.want(AcceptRequest(.received(Self.romeo + "/orchard")), id: "full")
        #expect(try harness.outcome("full") == .failed("romeo@example.net has not asked to see when you are online"))
        #expect(try harness.subscriptions().isEmpty)
    }

    // MARK: Added

    @Test("add: the roster is set, then the contact is asked; a contact that asks in turn is approved")
    func added() throws {
        let harness = try StepHarness.withRoster()
        try harness.want(AddContact(.received(Self.romeo), name: "Romeo", groups: ["Friends"]))
        let item = try harness.request(try harness.open("contacts.added")).child("query", "jabber:iq:roster")?.child(
            "item")
        #expect(
            item?["jid"] == Self.romeo && item?["name"] == "Romeo" && item?.children("group").map(\.text) == ["Friends"]
        )
        #expect(try harness.subscriptions().isEmpty)
        try harness.push("<item jid='romeo@example.net' name='Romeo' subscription='none'/>")
        try harness.fulfil("contacts.added")
        #expect(try harness.outcome() == .done)
        #expect(try harness.subscriptions() == ["subscribe " + Self.romeo])
        #expect(try ask(harness).isEmpty)
        #expect(try harness.subscriptions() == ["subscribe " + Self.romeo, "subscribed " + Self.romeo])
        try harness.push("<item jid='romeo@example.net' subscription='from'/>")
        try harness.push("<item jid='romeo@example.net' subscription='none'/>")
        for _ in 1...2 { try harness.fulfil("contacts.subscription") }
        #expect(try ask(harness).count == 1, "the approval was used once")
    }

    @Test("the token of an invitation goes with the request, also in another session (XEP-0379)")
    func invited() throws {
        let harness = try StepHarness.withRoster()
        try harness.want(AddContact(.received(Self.romeo), name: "Romeo", groups: [], preauth: "T&1"))
        try harness.fulfil("contacts.added")
        func token() throws -> String? {
            let sent = try harness.write().map { String(decoding: $0.stanza, as: UTF8.self) }
            return sent.first { $0.contains("<preauth xmlns='urn:xmpp:pars:0' token='T&amp;1'/>") }
        }
        #expect(try token()?.contains("type='subscribe'") == true)
        try harness.bind(resumeID: "session-2", answered: .all)
        #expect(try token()?.contains("type='subscribe'") == true)
    }

    @Test("case 23: add approves beforehand where the server can, or answers a request that is here")
    func preapproved() throws {
        let harness = try StepHarness.withRoster(offering: StepHarness.versions + StepHarness.preapproval)
        try harness.add(Self.romeo)
        try harness.fulfil("contacts.added")
        #expect(try harness.subscriptions() == ["subscribe " + Self.romeo, "subscribed " + Self.romeo])
        try harness.push("<item jid='romeo@example.net' approved='true' ask='subscribe'/>")
        #expect(try harness.number("SELECT count(*) FROM approval") == 0, "the server knows")

        let other = try StepHarness.withRoster()
        try ask(other)
        #expect(try other.add(Self.romeo).told(RequestChanged.self).isEmpty)
        #expect(try other.fulfil("contacts.added").told(RequestChanged.self).count == 1)
        #expect(try other.subscriptions() == ["subscribe " + Self.romeo, "subscribed " + Self.romeo])
    }

    @Test("an addition is sent again with its lost session, refused by the server, or given up; name and groups stay")
    func unlucky() throws {
        let harness = try StepHarness.withRoster("<item jid='romeo@example.net' name='R'><group>G</group></item>")
        try harness.add(Self.romeo)
        try harness.write()
        try harness.bind(resumeID: "session-2", answered: .all)
        let item = try harness.request(try harness.open("contacts.added")).child("query", "jabber:iq:roster")?.child(
            "item")
        #expect(item?["name"] == "R" && item?.children("group").map(\.text) == ["G"])
        try harness.receive(
            "<iq type='error' id='\(try harness.open("contacts.added"))'><error type='cancel'><not-allowed xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>"
        )
        #expect(try harness.outcome() == .failed("not-allowed (cancel)"))
        #expect(try harness.number("SELECT count(*) FROM approval") == 0)
        try harness.add(Self.romeo, id: "second")
        for _ in 0..<3 {
            try harness.write()
            try harness.letExpire()
        }
        #expect(try harness.outcome("second") == .failed("the server does not answer"))
        #expect(try harness.subscriptions().isEmpty)
    }

    @Test("an addition without a name looks first: what another client has named meanwhile keeps its name")
    func looked() throws {
        let harness = try StepHarness.withRoster("<item jid='romeo@example.net' name='R'/>")
        try harness.want(AddContact(.received(Self.romeo), groups: ["G"]))
        let question = try harness.request(try harness.open("contacts.added"))
        #expect(question["type"] == "get" && question.child("query", "jabber:iq:roster")?["ver"] == "v1")
        try harness.receive(
            """
            <iq type='result' id='\(try harness.open("contacts.added"))'><query xmlns='jabber:iq:roster' ver='v2'>\
            <item jid='romeo@example.net' name='Elsewhere'><group>Theirs</group></item></query></iq>
            """)
        #expect(try harness.outcome() == .pending)
        let item = try harness.request(try harness.open("contacts.added")).child("query", "jabber:iq:roster")?.child(
            "item")
        #expect(item?["name"] == "Elsewhere" && item?.children("group").map(\.text) == ["G"])
    }

    @Test("remove: nothing of the addition goes on; nothing found the second time is done")
    func removed() throws {
        let harness = try StepHarness.withRoster()
        try harness.add(Self.romeo, id: "add")
        try harness.fulfil("contacts.added")
        try harness.want(RemoveContact(.received(Self.romeo)))
        #expect(
            try harness.number("SELECT (SELECT count(*) FROM approval) + (SELECT count(*) FROM subscription_owed)") == 0
        )
        try harness.write()
        try harness.bind(resumeID: "session-2", answered: .all)
        #expect(try harness.subscriptions().isEmpty)
        try harness.receive(
            "<iq type='error' id='\(try harness.open("contacts.removed"))'><error type='modify'><item-not-found xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>"
        )
        #expect(try harness.outcome() == .done)
        #expect(try ask(harness).count == 1, "nothing is approved unasked")
    }

    @Test("what is no contact is not added")
    func checked() throws {
        let harness = try StepHarness.withRoster()
        for jid in ["romeo@example.net/orchard", "@"] {
            #expect(throws: IntentFailure.self) { try AddContact(.received(jid)).check() }
        }
        #expect(throws: IntentFailure.self) { try AddContact(.received(Self.romeo), name: "\u{1}").check() }
        try harness.want(AddContact(.received("juliet@example.org")))
        #expect(try harness.outcome() == .failed("juliet@example.org is the account itself"))
    }
}
