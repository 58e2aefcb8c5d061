import KalijAddress
import KalijStream
import TestSupport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijCore

/// A session that the server resumes and reads no more, found out by several processes: each ends before the silence can tell.
@Suite struct UnreadSessionTests {
    /// The session is resumed by one more process, which ends without an answer.
    private func resume(_ harness: StepHarness) throws {
        _ = try harness.steps.resumed(try harness.steps.load().acknowledged)
    }

    /// Whether the next process asks for the old session.
    private func isResuming(_ harness: StepHarness) throws -> Bool {
        var (opening, reconnecting) = (
            SessionEstablishment(harness.steps, withNewPassword: false), ReconnectPolicy(longest: 1)
        )
        for action in try opening.handle(.plan, &reconnecting, isLeaving: false) {
            if case .negotiate(.planned(let plan)) = action { return plan.resume != nil }
        }
        Issue.record("no plan")
        return false
    }

    @Test("five resumptions in three minutes without an acknowledgement: the session is given up, and a new one begins")
    func givenUp() throws {
        let harness = try StepHarness.caughtUp()
        for _ in 1...5 {
            #expect(try isResuming(harness))
            try resume(harness)
        }
        // Processes that are killed at once, again and again, say nothing.
        #expect(try isResuming(harness))
        harness.clock.move(by: 179_000)
        #expect(try isResuming(harness))
        harness.clock.move(by: 2_000)
        #expect(try !isResuming(harness))
        #expect(try harness.steps.load().resumeID == nil)
        _ = try harness.steps.bound(JID.received("romeo@example.net/x"))
        _ = try harness.steps.established(resumeID: "new")
        #expect(try isResuming(harness) && harness.steps.load().unread.resumptions == 0)
    }

    @Test("an acknowledgement shows that the server reads")
    func acknowledged() throws {
        let harness = try StepHarness.caughtUp()
        try harness.accept("one")
        try harness.write()
        for _ in 1...4 { try resume(harness) }
        harness.clock.move(by: 200_000)
        try harness.acknowledgeAll()
        #expect(try harness.steps.load().unread.resumptions == 0)
        try resume(harness)
        #expect(try isResuming(harness))
    }

    @Test("the third resumption in a row asks for an acknowledgement; an answer for nothing new counts, too")
    func asked() throws {
        let harness = try StepHarness.caughtUp()
        // The first resumption asks for the archive, and its acknowledgement counts.
        try resume(harness)
        try harness.answerPage(complete: true)
        try harness.database.execute("DELETE FROM queue; UPDATE session SET acknowledged = 0, unread = 1")
        try resume(harness)
        try harness.database.execute("DELETE FROM queue")
        #expect(try !ConnectedDriver(harness).wire.sent.contains { $0.hasPrefix("<r ") })
        try resume(harness)
        try harness.database.execute("DELETE FROM queue")
        let driven = try ConnectedDriver(harness)
        #expect(driven.wire.sent.count { $0.hasPrefix("<r ") } == 1)
        driven.receive("<a xmlns='urn:xmpp:sm:3' h='\(try harness.steps.load().acknowledged.value)'/>")
        #expect(try harness.steps.load().unread.resumptions == 0)
    }
}
