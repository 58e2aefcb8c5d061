import KalijAddress
import KalijStream
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Promise 2: "only what is not there is sent again, in order, and only if the archive is known to keep what we send to this peer
/// and has not expired or been purged behind the anchor; else the outcome is unknown."
struct DeliveryEvidenceTests {
    /// A harness that has read a1 to a5. The server has accepted the messages `before`. The message "lost" has left in a
    /// lost session, and the new session is about to read.
    private func lost(before: [String] = [], acked: String? = nil) throws -> StepHarness {
        let harness = try StepHarness.read(5)
        for body in before {
            try harness.accept(body)
            try harness.write()
            try harness.acknowledgeAll()
        }
        try harness.accept("lost")
        try harness.write()
        try begin(harness)
        return harness
    }

    /// The session is lost, and a new one is about to read the archive.
    private func begin(_ harness: StepHarness) throws {
        _ = try harness.steps.resumeFailed(nil)
        try harness.bind(resumeID: "session-2", answered: .all)
        try harness.answerFeatures(archive: true)
    }

    /// The archive shows its messages, to the end.
    private func read(_ harness: StepHarness, _ shown: [String], own: [String] = []) throws -> [String] {
        try harness.show(shown)
        for body in own { try harness.receive(try harness.archived(body, try harness.copy(of: body))) }
        let last = own.last ?? shown.last
        var told = try harness.answerPage(last: last, complete: true).told
        told += try harness.answerPage(complete: true).told
        return told
    }

    private func isSentAgain(_ harness: StepHarness) throws -> Bool {
        let isQueued = try harness.queue().contains("message chat lost")
        let isSettled = try harness.number("SELECT settled FROM message WHERE body = 'lost'") == 1
        #expect(isQueued == isSettled)
        return isQueued
    }

    @Test("the preferences decide", arguments: [("always", true), ("never", false), ("roster", false), (nil, false)])
    func policy(_ policy: String?, _ isSentAgain: Bool) throws {
        let harness = try lost()
        try harness.answerPreferences(policy)
        let told = try read(harness, ["a2", "a3", "a4", "a5"])
        #expect(try self.isSentAgain(harness) == isSentAgain)
        #expect(told.contains("lost is unsettled") == !isSentAgain)
    }

    /// A room says so much; row numbers are left out, as by a process that takes over.
    private func talk(_ harness: StepHarness, _ count: Int) throws {
        let row = try #require(try harness.number("SELECT max(id) + 1000 FROM message"))
        let position = try #require(try harness.number("SELECT max(position) FROM message"))
        try harness.database.execute(
            """
            WITH RECURSIVE said(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM said WHERE n < \(count))
            INSERT INTO message(id, account, direction, conversation, position, archive, stanza_id, message_id, sender,
                recipient, type, body, sent_at, shown)
            SELECT \(row) + n, \(harness.account.id), 'in', 'room@muc.example.org', \(position) + n, 'room@muc.example.org',
                'g' || (\(row) + n), '', 'room@muc.example.org/x', 'juliet@example.org', 'groupchat', 'talk', 0, 1 FROM said
            """)
    }

    @Test("what rooms have said since, and an end that is no message, do not hide the anchor and what is before it")
    func rooms() throws {
        let harness = try StepHarness.read(2)
        try talk(harness, 300)
        try harness.reconnect()
        try harness.show(["a3"])
        let receipt =
            "<message from='romeo@example.net/x' to='juliet@example.org' id='r'><received xmlns='urn:xmpp:receipts' id='1'/></message>"
        try harness.receive(try harness.result("a4", xml: receipt))
        try harness.fin("page", last: "a4", complete: true)
        try talk(harness, 300)
        try harness.accept("lost")
        try harness.write()
        try begin(harness)
        try harness.answerPreferences("always")
        #expect(try harness.asked() == ["after a2"])
        _ = try read(harness, ["a3"])
        #expect(try isSentAgain(harness))
    }

    @Test("a list in the preferences goes before their default, and never before always")
    func lists() throws {
        for (always, never, isSentAgain) in [
            (["romeo@example.net"], [], true), ([], ["romeo@example.net"], false), ([], ["example.net"], false),
            (["romeo@example.net"], ["romeo@example.net/orchard"], false), (["nurse@example.net"], [], false),
        ] {
            for policy in ["always", "never"] {
                let harness = try lost()
                try harness.answerPreferences(policy, always: always, never: never)
                _ = try read(harness, ["a2", "a3", "a4", "a5"])
                let isDefault = !(always + never).contains { $0.contains("romeo") || $0 == "example.net" }
                #expect(
                    try self.isSentAgain(harness) == (isDefault ? policy == "always" : isSentAgain),
                    "\(policy) \(always) \(never)")
            }
        }
    }

    @Test("if the preferences are silent, the newest message to the contact that the server accepted decides")
    func earlier() throws {
        for (own, isSentAgain) in [(["before"], true), ([], false)] {
            for policy in ["roster", nil] {
                let harness = try lost(before: ["before"])
                try harness.answerPreferences(policy)
                _ = try read(harness, ["a2", "a3", "a4", "a5"], own: own)
                #expect(try self.isSentAgain(harness) == isSentAgain)
            }
        }
    }

    @Test("an archive that was emptied, or has lost messages from the time when the message left, proves nothing")
    func purged() throws {
        let harness = try lost(before: ["before"])
        try harness.answerPreferences("always")
        // Measured: ejabberd compares ids by value. A cursor that its archive has forgotten is no error there.
        _ = try read(harness, ["new"])
        #expect(try !isSentAgain(harness))
        let other = try lost()
        try other.answerPreferences("always")
        try other.refuse("page", "item-not-found")
        _ = try read(other, ["new"])
        #expect(try !isSentAgain(other))
    }

    @Test(
        "the anchor is shown again even if it is the first message known, and nobody knows yet whether the archive has older ones"
    )
    func firstOfAll() throws {
        for isOlderPage in [false, true] {
            let harness = try StepHarness.read(1)
            let ranges = try harness.ranges()
            #expect(ranges == ["a1...a1"])
            try harness.accept("lost")
            try harness.write()
            try begin(harness)
            try harness.answerPreferences("always")
            let asked = try harness.asked()
            #expect(asked == ["from 2026-11-20T09:59:59Z"])
            try harness.show(["a0"], at: "2026-11-20T09:59:59.999Z")
            if isOlderPage { try harness.answerPage(last: "a0", complete: false) }
            #expect(try harness.ranges() == ranges)
            try harness.show(["a1"])
            try harness.answerPage(last: "a1", complete: true)
            try harness.answerPage(complete: true)
            #expect(try isSentAgain(harness))
            #expect(try harness.ranges() == ranges)
            #expect(try harness.shown() == ["[not fetched]", "a1", "lost"])
        }
    }

    @Test("a message is not sent again if the archive has its retraction: ejabberd 24.12 erases what was retracted")
    func retracted() throws {
        let harness = try StepHarness.read(5)
        let message = try harness.accept("lost")
        _ = try harness.runner.run("application", for: harness.account) { step in
            _ = try Intents(step: step).perform(Retract(.row(message.id)), id: "i1")
        }
        let retraction = try #require(try harness.write().compactMap(\.message).last)
        let id = try #require(try harness.text("SELECT origin_id FROM message WHERE id = \(retraction)"))
        try begin(harness)
        try harness.answerPreferences("always")
        try harness.show(["a2", "a3", "a4", "a5"])
        let archived = self.retraction(of: try #require(message.originID), as: id)
        try harness.receive(try harness.archived("a6", archived))
        var told = try harness.answerPage(last: "a6", complete: true).told
        told += try harness.answerPage(complete: true).told
        #expect(try harness.queue().allSatisfy { !$0.hasPrefix("message") })
        #expect(try harness.text("SELECT state FROM message WHERE id = \(message.id)") == "acked")
        #expect(!told.contains { $0.contains("unsettled") })
    }

    @Test("another device's retraction proves that a message has arrived, also one of unknown outcome")
    func retractedElsewhere() throws {
        for isUnknown in [false, true] {
            let harness = try isUnknown ? lost() : StepHarness.read(5)
            if isUnknown {
                try harness.answerPreferences("never")
                _ = try read(harness, ["a2", "a3", "a4", "a5"])
            } else {
                try harness.accept("lost")
                try harness.write()
            }
            let id = try #require(try harness.text("SELECT origin_id FROM message WHERE body = 'lost'"))
            try begin(harness)
            if !isUnknown { try harness.answerPreferences("always") }
            try harness.show(["a2", "a3", "a4", "a5"])
            try harness.receive(try harness.archived("a6", retraction(of: id, as: "x1")))
            try harness.answerPage(last: "a6", complete: true)
            try harness.answerPage(complete: true)
            #expect(try harness.queue().allSatisfy { !$0.hasPrefix("message") })
            #expect(try harness.text("SELECT state || settled FROM message WHERE origin_id = '\(id)'") == "acked1")
        }
    }

    private func retraction(of id: String, as own: String) -> String {
        """
        <message from='juliet@example.org/x' to='romeo@example.net' type='chat' id='\(own)'>\
        <retract xmlns='urn:xmpp:message-retract:1' id='\(id)'/></message>
        """
    }

    @Test("if the preferences are silent, a message that was retracted, and may be erased, decides nothing")
    func retractedBefore() throws {
        let harness = try lost(before: ["before", "gone"])
        let row = try #require(try harness.number("SELECT id FROM message WHERE body = 'gone'"))
        _ = try harness.runner.run("application", for: harness.account) { step in
            _ = try Intents(step: step).perform(Retract(.row(row)), id: "i1")
        }
        try harness.answerPreferences("roster")
        _ = try read(harness, ["a2", "a3", "a4", "a5"], own: ["before"])
        #expect(try isSentAgain(harness))
    }

    @Test("a retraction in a later session proves nothing about a message of unknown outcome")
    func retractedLater() throws {
        let harness = try lost()
        try harness.answerPreferences("never")
        #expect(try read(harness, ["a2", "a3", "a4", "a5"]).contains("lost is unsettled"))
        let row = try #require(try harness.number("SELECT id FROM message WHERE body = 'lost'"))
        _ = try harness.runner.run("application", for: harness.account) { step in
            _ = try Intents(step: step).perform(Retract(.row(row)), id: "i1")
        }
        try harness.write()
        try harness.acknowledgeAll()
        #expect(try harness.text("SELECT state || settled FROM message WHERE id = \(row)") == "sent0")
    }

    @Test("the anchor is shown again if a process has taken over just before it, and has left out numbers of rows")
    func takenOver() throws {
        let harness = try StepHarness.read(2)
        try MessageFeed.leaveOut(in: harness.database)
        _ = try harness.steps.readArchive()
        try harness.show(["a3"])
        try harness.answerPage(last: "a3", complete: true)
        try harness.accept("lost")
        try harness.write()
        try begin(harness)
        try harness.answerPreferences("always")
        let asked = try harness.asked()
        #expect(asked == ["after a2"])
        _ = try read(harness, ["a3"])
        #expect(try isSentAgain(harness))
    }

    @Test("messages wait for the preferences, however early the archive was read to its end, but not for ever")
    func late() throws {
        let harness = try lost()
        _ = try read(harness, ["a2", "a3", "a4", "a5"])
        #expect(try harness.write().allSatisfy { $0.message == nil }, "held")
        try harness.answerPreferences("always")
        #expect(try isSentAgain(harness))
        let silent = try lost()
        _ = try read(silent, ["a2", "a3", "a4", "a5"])
        try silent.letExpire()
        #expect(try !isSentAgain(silent))
        #expect(try silent.number("SELECT holding FROM session") == 0)
    }

    @Test(
        "messages do not wait for preferences whose handler is lost: their outcome is unknown, because nothing is proved"
    )
    func lostHandler() throws {
        let harness = try lost()
        _ = try read(harness, ["a2", "a3", "a4", "a5"])
        // Three processes have ended during the call.
        try harness.database.execute("UPDATE request SET crashes = 3 WHERE name = 'catch-up.preferences'")
        let told = try harness.answerPreferences("always").told
        #expect(told.contains { $0.hasPrefix("dead letter catch-up.preferences") })
        #expect(told.contains("lost is unsettled"))
        #expect(try !isSentAgain(harness))
        #expect(try harness.number("SELECT holding FROM session") == 0)
    }

    @Test(
        "messages that the archive has shown in the previous session prove nothing: they may be gone (simulation, seed 1032899)",
        arguments: [true, false])
    func brokenOff(isEmptied: Bool) throws {
        let harness = try StepHarness.read(5)
        _ = try harness.steps.readArchive()
        try harness.show(["a5", "a6"])
        try harness.accept("lost")
        try harness.write()
        try begin(harness)
        try harness.answerPreferences("always")
        let told = try read(harness, isEmptied ? [] : ["a2", "a3", "a4", "a5", "a6"])
        #expect(try isSentAgain(harness) != isEmptied)
        #expect(told.contains("lost is unsettled") == isEmptied)
    }

    @Test(
        "a question that never left proves nothing: messages wait for the next connection's reading (simulation, seed 1035436)"
    )
    func neverAsked() throws {
        let harness = try lost()
        try harness.answerPreferences("always")
        // Offline, and the deadline has passed, for example because the clock was set.
        harness.clock.move(by: 121_000)
        var told: [String] = []
        while let effects = try harness.steps.expire(.unsent, until: harness.clock.now) { told += effects.told }
        #expect(told.contains { $0.hasPrefix("caught up: the server does not answer") })
        #expect(!told.contains("lost is unsettled"))
        _ = try harness.steps.resumed(try harness.steps.load().acknowledged)
        try harness.show(["a2", "a3", "a4", "a5"])
        try harness.answerPage(last: "a5", complete: true)
        #expect(try isSentAgain(harness))
    }

    @Test("each contact is judged alone")
    func contacts() throws {
        let harness = try StepHarness.read(5)
        try harness.accept("lost")
        try harness.accept("other", to: "nurse@example.net")
        try harness.write()
        _ = try harness.steps.resumeFailed(nil)
        try harness.bind(resumeID: "session-2", answered: .all)
        try harness.answerFeatures(archive: true)
        try harness.answerPreferences("never", always: ["nurse@example.net"])
        _ = try read(harness, ["a2", "a3", "a4", "a5"])
        #expect(try harness.history().suffix(2) == ["out lost (sent) unsettled", "out other (sent)"])
        #expect(try harness.queue().filter { $0.hasPrefix("message") } == ["message chat other"])
    }

    @Test("a resumed session sends all uncounted messages again, whatever is archived")
    func resumed() throws {
        let harness = try StepHarness.read(5)
        try harness.accept("lost")
        try harness.write()
        _ = try harness.steps.resumed(try harness.steps.load().acknowledged)
        try harness.show(["a2", "a3", "a4", "a5"])
        try harness.answerPage(last: "a5", complete: true)
        #expect(try isSentAgain(harness))
    }
}
