import Foundation
import KalijAddress
import KalijHandlers
import KalijStore
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijSteps

/// "A database with handlers whose types no longer exist, whose payload is garbage, whose version is from the future:
/// nothing crashes, the dead letters are listed, everything else works."
struct DeadLetterTests {
    private enum Owner: Feature {
        static let name = "org.example.gone"
        static let handlerPrefix = "gone"
        static func lost(_ letter: DeadLetter, in step: Step) throws {
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

    /// A desk with rows that no version of this software can call, next to rows in order.
    private func damaged() throws -> Desk {
        let desk = try Desk(features: [Log.self, Owner.self])
        try desk.bind()
        try desk.answerFeatures(archive: false)
        try desk.acknowledgeAll()
        _ = try desk.ask("good", to: "romeo@example.net")
        try desk.perform { step in
            _ = try step.send(.question(to: nil), then: Gone(), within: .seconds(30))
            _ = try step.schedule(GoneTimer(), at: step.now)
            _ = try step.schedule(Log.Rung(text: "good"), at: step.now)
            let promise = try step.promise(of: Int.self, within: .zero)
            try step.then(promise, Log.Awaited(text: "bad"))
            try step.then(promise, Log.Awaited(text: "good"))
        }
        try desk.write()
        // Garbage: nothing at all, random bytes, text, a handler of the future, a value of another kind.
        let future = "836a6c6f672e6c6f6767656418ffa16474657874617a"
        let wrong = "836a6c6f672e6c6f6767656401a16474657874187b"
        for (index, bytes) in ["", "00", "ffffffffffffffff", "9bffffffffffffffff", "68656c6c6f", future, wrong]
            .enumerated()
        {
            try desk.database.execute(
                """
                INSERT INTO request VALUES (1, 'garbage-\(index)', '', 0, \(Desk.noon + 10), 1, 'log.logged', \(blob(bytes)), 0);
                INSERT INTO timer(account, at, name, handler) VALUES (1, 0, 'log.rung', \(blob(bytes)));
                """)
        }
        try desk.database.execute("UPDATE waiter SET handler = x'81' WHERE id = (SELECT min(id) FROM waiter)")
        return desk
    }

    @Test(
        "damaged handlers become dead letters at their time, at an answer and at the loss of the session; the rest works"
    )
    func damagedRows() throws {
        let desk = try damaged()
        try desk.receive("<iq type='result' id='garbage-2'/>")
        try desk.receive("<iq type='error' id='garbage-5' from='juliet@example.org'/>")
        desk.clock.move(by: 1)
        while try desk.steps.due() != nil {}
        desk.clock.move(by: 10)
        while try desk.steps.expire(.all, until: desk.clock.now) != nil {}
        _ = try desk.steps.resumeFailed(nil)
        try desk.bind(resumeID: "session-2")
        #expect(
            try desk.log().sorted() == [
                "good rung", "good timeout", "good: session lost", "told of gone.handler (request)",
                "told of gone.timer (timer)",
            ])
        for table in ["timer", "waiter"] { #expect(try desk.count(table) == 0) }
        #expect(try desk.questions("features").count == 1 && desk.count("request") == 1)
        let letters = try StatusReader(desk.directory, desk.database).deadLetters()
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
        let desk = try damaged()
        let handled = try desk.steps.load().handled
        let effects = try desk.receive("<iq type='result' id='garbage-3'/>")
        #expect(effects.told == ["dead letter : handler: the stored form is damaged"])
        #expect(try desk.steps.load().handled == handled.advanced())
    }

    @Test("logging out with damaged handlers in the database works")
    func logOut() throws {
        let desk = try damaged()
        _ = try desk.logoutSteps.logOut(removing: false)
        #expect(try desk.count("request") == 0 && desk.count("timer") == 0 && desk.count("waiter") == 0)
        #expect(try desk.log().contains("good: logged out"))
    }

    @Test("a catch-up without its handler goes on, and tells the reason")
    func catchUp() throws {
        let desk = try Desk.online()
        try desk.database.execute("UPDATE request SET handler = x'836f63617463682d75702e67656172730ca0'")
        let id = try #require(try desk.questions("features").last)
        try desk.database.execute("UPDATE request SET handler = x'837163617463682d75702e666561747572657318ffa0'")
        let told = try desk.receive("<iq type='result' id='\(id)'/>").told
        #expect(told.last?.hasPrefix("caught up: what should have gone on with it was lost") == true)
        #expect(try desk.queue().last == "presence c")
    }

    @Test("a reading of a room's archive without its handler goes on, and the account's own reading is left alone")
    func roomCatchUp() throws {
        let room = "orchard@muc.example.org"
        let desk = try Desk.read(1)
        for kind in ["room", "page"] {
            _ = try desk.runner.run("application", for: desk.account) { try $0.readArchive(of: try JID(room)) }
            let asked = try #require(try desk.questions("room").last)
            if kind == "page" {
                try desk.receive(
                    """
                    <iq type='result' from='\(room)' id='\(asked)'><query xmlns='http://jabber.org/protocol/disco#info'>\
                    <feature var='urn:xmpp:mam:2'/></query></iq>
                    """)
            }
            let id = try #require(try desk.questions(kind).last)
            // Three processes have ended during the call.
            try desk.database.execute("UPDATE request SET crashes = 3 WHERE id = '\(id)'")
            let effects = try desk.receive("<iq type='result' from='\(room)' id='\(id)'/>")
            let told = effects.told.filter { !$0.hasPrefix("dead letter") }
            #expect(told.count == 1)
            #expect(told.first?.hasPrefix("room \(room): what should have gone on with it was lost") == true)
            #expect(!effects.archiveAgain)
        }
        #expect(try desk.number("SELECT count(*) FROM catchup WHERE phase <> 'done'") == 0)
    }

    @Test("the newest thousand dead letters are kept")
    func bounded() throws {
        let desk = try Desk.logging()
        try desk.perform { step in
            for _ in 0..<1010 { _ = try step.schedule(GoneTimer(), at: step.now) }
        }
        while try desk.steps.due() != nil {}
        #expect(try desk.count("dead_letter") == 1000)
    }
}
