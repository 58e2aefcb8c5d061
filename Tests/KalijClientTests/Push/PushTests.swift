import KalijAddress
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Push in the steps of an account.
struct PushTests {
    private let harness: StepHarness

    init() throws { harness = try StepHarness() }

    private func perform(_ intent: some Intent, id: String) throws -> IntentOutcome {
        var outcome = IntentOutcome.pending
        _ = try harness.runner.run("test", for: harness.account) {
            outcome = try Intents(step: $0).perform(intent, id: id)
        }
        return outcome
    }

    private func enable(_ node: String = "token", id: String = "enable") throws -> IntentOutcome {
        try perform(EnablePush(try JID("push.example.com"), node: node, module: "app", secret: "s"), id: id)
    }

    private func answer(_ xml: String = "<iq type='result' id='ID'/>") throws {
        let id = try #require(try harness.waiting("push.answered").last)
        try harness.receive(xml.replacingOccurrences(of: "ID", with: id))
    }

    private func online() throws {
        try harness.bind(answered: .all)
        try harness.answerFeatures(archive: true)
        for _ in 0..<2 { try harness.answerPage(complete: true) }
        try harness.acknowledgeAll()
    }

    private var registration: PushRegistration {
        get throws { try #require(try PushRegistration.load(of: harness.account, from: harness.database)) }
    }

    private func queued() throws -> [String] {
        try harness.database.prepare("SELECT CAST(stanza AS TEXT) FROM queue ORDER BY id").all { $0.text() }
    }

    @Test("XEP-0357 section 5: enabling names the service, the node and the publish-options")
    func element() throws {
        try online()
        #expect(try enable() == .pending)
        let stanza = try #require(try queued().last)
        let enable = try #require(try Element.parse(stanza).child("enable", "urn:xmpp:push:0"))
        #expect(enable["jid"] == "push.example.com" && enable["node"] == "token")
        let fields = try #require(enable.child("x", "jabber:x:data")).children("field").map {
            "\($0["var"] ?? "")=\($0.child("value")?.text ?? "")"
        }
        #expect(
            fields == [
                "FORM_TYPE=http://jabber.org/protocol/pubsub#publish-options", "pushModule=app", "secret=s",
            ])
        try answer()
        #expect(try registration.state == "enabled")
        #expect(try registration.confirmedAt != nil)
        #expect(try Intents.outcome(of: "enable", by: harness.account, in: harness.database) == .done)
    }

    @Test("in the step of a bind push is queued before presence, and before any room")
    func order() throws {
        try online()
        _ = try enable()
        try answer()
        _ = try perform(JoinRoom(try JID("orchard@muc.example.org")), id: "join")
        try harness.bind(resumeID: "session-2", answered: .all)
        let stanzas = try queued()
        let enabling = try #require(stanzas.firstIndex { $0.contains("urn:xmpp:push:0") })
        #expect(stanzas[..<enabling].allSatisfy { !$0.hasPrefix("<presence") && !$0.contains("muc.example.org") })
        #expect(try registration.state == "enabling")
        #expect(try registration.confirmedAt == nil)
        try answer()
        #expect(try registration.state == "enabled")
    }

    @Test("a resumed session is asked nothing")
    func resumed() throws {
        try online()
        _ = try enable()
        try answer()
        try harness.acknowledgeAll()
        _ = try harness.steps.resumed(try harness.steps.load().acknowledged)
        #expect(try !queued().contains { $0.contains("urn:xmpp:push:0") })
        #expect(try registration.state == "enabled")
    }

    @Test("a server without push: the outcome is failed, with its words")
    func refused() throws {
        try online()
        _ = try enable()
        try answer(
            """
            <iq type='error' id='ID'><error type='cancel'><service-unavailable \
            xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
            """)
        #expect(try registration.state == "refused")
        let outcome = try Intents.outcome(of: "enable", by: harness.account, in: harness.database)
        #expect(outcome == .failed("the server has no push: service-unavailable (cancel)"))
    }

    @Test("a logout disables first, and waits for the answer; the registration goes with the login")
    func logout() throws {
        try online()
        _ = try enable()
        try answer()
        let steps = LogoutSteps(runner: harness.runner, account: harness.account)
        let awaited = try steps.leave().awaited
        #expect(try queued().last?.contains("<disable") == true)
        #expect(try steps.isWaiting(for: awaited))
        try answer()
        #expect(try !steps.isWaiting(for: awaited))
        _ = try steps.logOut(removing: false)
        #expect(try harness.number("SELECT count(*) FROM push") == 0)
    }

    @Test("the answer to a former question changes nothing")
    func lateAnswer() throws {
        try online()
        _ = try enable()
        let former = try #require(try harness.waiting("push.answered").last)
        _ = try enable("other", id: "other")
        try harness.receive("<iq type='result' id='\(former)'/>")
        #expect(try registration.state == "disabling")
        #expect(
            try Intents.outcome(of: "enable", by: harness.account, in: harness.database) == .failed("asked again"))
    }

    @Test(
        "bad input is refused before anything is stored",
        arguments: [("", "t"), ("push.example.com", ""), ("push.example.com", "a\nb"), ("@", "t")])
    func badInput(_ service: String, _ node: String) throws {
        #expect(throws: (any Error).self) { try EnablePush(try JID(service), node: node).check() }
    }
}
