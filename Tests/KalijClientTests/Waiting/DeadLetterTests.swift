import Foundation
import KalijAddress
import KalijHandlers
import KalijStore
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// "A database with handlers whose types no longer exist, whose payload is garbage, whose version is from the future:
/// nothing crashes, the dead letters are listed, everything else works."
struct DeadLetterTests {
    private enum Owner: Feature {
        static let name = "org.example.gone"
        static let handlerPrefix = "gone"
        static func handlerDeadLettered(_ letter: DeadLetter, in step: Step) throws {
            try Log.write("told of \(letter.name) (\(letter.origin.rawValue))", in: step)
        }
    }

    private struct Gone: Handler {
        static let name = "gone.handler"
        func call(_ reply: IQReply, in step: Step) {}
    }

    private struct GoneTimer: Handler {
        static let name = "gone.timer"
        func call(_: Void, in step: Step) {}
    }

    private func blob(_ hex: String) -> String { "x'\(hex)'" }

    /// A harness with rows that no version of this software can call, next to rows in order.
    private func damaged() throws -> StepHarness {
        let harness = try StepHarness(features: [Log.self, Owner.self])
        try harness.bind(answered: .all)
        try harness.answerFeatures(archive: false)
        try harness.acknowledgeAll()
        _ = try harness.ask("good", to: "romeo@example.net")
        try harness.perform { step in
            _ = try step.send(.question(to: nil), then: Gone(), within: .seconds(30))
            _ = try step.schedule(GoneTimer(), at: step.now)
            _ = try step.schedule(Log.Rung(text: "good"), at: step.now)
            let promise = try step.promise(of: Int.self, within: .zero)
            try step.then(promise, Log.Awaited(text: "bad"))
            try step.then(promise, Log.Awaited(text: "good"))
        }
        try harness.write()
        // Garbage: nothing at all, random bytes, text, a handler of the future, a value of another kind.
        let future = "836a6c6f672e6c6f6767656418ffa16474657874617a"
        let wrong = "836a6c6f672e6c6f6767656401a16474657874187b"
        for (index, bytes) in ["", "00", "ffffffffffffffff", "9bffffffffffffffff", "68656c6c6f", future, wrong]
            .enumerated()
        {
            try harness.database.execute(
                """
                INSERT INTO request VALUES (1, 'garbage-\(index)', '', 0, \(StepHarness.noon + 10), 1, 'log.logged', \(blob(bytes)), 0);
                INSERT INTO timer(account, at, name, handler) VALUES (1, 0, 'log.rung', \(blob(bytes)));
                """)
        }
        try harness.database.execute("UPDATE waiter SET handler = x'81' WHERE id = (SELECT min(id) FROM waiter)")
        return harness
    }

    @Test(
        "damaged handlers become dead letters at their time, at an answer and at the loss of the session; the rest works"
    )
    func damagedRows() throws {
        let harness = try damaged()
        try harness.receive("<iq type='result' id='garbage-2'/>")
        try harness.receive("<iq type='error' id='garbage-5' from='juliet@example.org'/>")
        harness.clock.move(by: 1)
        while try harness.steps.due() != nil {}
        harness.clock.move(by: 10)
        while try harness.steps.expire(.all, until: harness.clock.now) != nil {}
        _ = try harness.steps.resumeFailed(nil)
        try harness.bind(resumeID: "session-2", answered: .all)
        #expect(
            try harness.log().sorted() == [
                "good rung", "good timeout", "good: session lost", "told of gone.handler (request)",
                "told of gone.timer (timer)",
            ])
        for table in ["timer", "waiter"] { #expect(try harness.count(table) == 0) }
        #expect(try harness.questions("features").count == 1 && harness.count("request") == 1)
        let letters = try StatusReader(harness.directory, harness.database).deadLetters()
        #expect(letters.count == 17)
        let reasons = Set(letters.map(\.reason))
        #expect(
            reasons == [
                "handler gone.handler (version 1): no such handler is known",
                "handler gone.timer (version 1): no such handler is known", "handler: the stored form is damaged",
                "handler log.logged (version 255): was stored by a newer version, this one has 1",
                "handler log.logged (version 255): takes something else, IQReply, and was called with ()",
                "handler log.logged (version 1): takes something else, IQReply, and was called with ()",
                "handler log.logged (version 1): text does not fit, not String",
            ])
    }

    @Test("a step with a dead letter goes on: the stanza is counted, and not sent again")
    func counted() throws {
        let harness = try damaged()
        let handled = try harness.steps.load().handled
        let effects = try harness.receive("<iq type='result' id='garbage-3'/>")
        #expect(effects.told == ["dead letter : handler: the stored form is damaged"])
        #expect(try harness.steps.load().handled == handled.advanced())
    }

    @Test("logging out with damaged handlers in the database works")
    func logOut() throws {
        let harness = try damaged()
        _ = try harness.logoutSteps.logOut(removing: false)
        #expect(try harness.count("request") == 0 && harness.count("timer") == 0 && harness.count("waiter") == 0)
        #expect(try harness.log().contains("good: logged out"))
    }

    @Test("a catch-up without its handler goes on, and tells the reason")
    func catchUp() throws {
        let harness = try StepHarness.online()
        try harness.database.execute("UPDATE request SET handler = x'836f63617463682d75702e67656172730ca0'")
        let id = try #require(try harness.questions("features").last)
        try harness.database.execute("UPDATE request SET handler = x'837163617463682d75702e666561747572657318ffa0'")
        let told = try harness.receive("<iq type='result' id='\(id)'/>").told
        #expect(told.last?.hasPrefix("caught up: what should have gone on with it was lost") == true)
        #expect(try harness.queue().suffix(2) == ["presence c", "iq get pubsub"])
    }

    @Test("a reading of a room's archive without its handler goes on, and the account's own reading is left alone")
    func roomCatchUp() throws {
        let room = "orchard@muc.example.org"
        let harness = try StepHarness.read(1)
        for kind in ["room", "page"] {
            _ = try harness.runner.run("application", for: harness.account) { try $0.readArchive(of: try JID(room)) }
            let asked = try #require(try harness.questions("room").last)
            if kind == "page" {
                try harness.receive(
                    """
                    <iq type='result' from='\(room)' id='\(asked)'><query xmlns='http://jabber.org/protocol/disco#info'>\
                    <feature var='urn:xmpp:mam:2'/></query></iq>
                    """)
            }
            let id = try #require(try harness.questions(kind).last)
            // Three processes have ended during the call.
            try harness.database.execute("UPDATE request SET crashes = 3 WHERE id = '\(id)'")
            let effects = try harness.receive("<iq type='result' from='\(room)' id='\(id)'/>")
            let told = effects.told.filter { !$0.hasPrefix("dead letter") }
            #expect(told.count == 1)
            #expect(told.first?.hasPrefix("room \(room): what should have gone on with it was lost") == true)
            #expect(!effects.isSignalled(HistoryFeature.self))
        }
        #expect(try harness.number("SELECT count(*) FROM catchup WHERE phase <> 'done'") == 0)
    }

    @Test("the newest thousand dead letters are kept")
    func bounded() throws {
        let harness = try StepHarness.logging()
        try harness.perform { step in
            for _ in 0..<1010 { _ = try step.schedule(GoneTimer(), at: step.now) }
        }
        while try harness.steps.due() != nil {}
        #expect(try harness.count("dead_letter") == 1000)
    }
}
