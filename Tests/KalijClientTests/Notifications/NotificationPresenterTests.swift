import KalijLab
import KalijStore
import TestSupport
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// "Shown, then marked": between a task that shows and the engine.
@Suite struct NotificationPresenterTests {
    private let harness: StepHarness
    private let outbox: NotificationOutbox
    private let handing = NotificationPresenter()

    init() throws {
        harness = try StepHarness(notifies: true)
        try harness.bind(answered: .all)
        outbox = NotificationOutbox(database: harness.database)
    }

    private func receive(_ id: String) throws {
        try harness.receive(
            "<message from='romeo@example.net/o' to='juliet@example.org' type='chat' id='\(id)'><body>\(id)</body></message>"
        )
    }

    /// Another device has displayed the message.
    private func displayed(_ id: String) throws {
        try harness.receive(
            """
            <message from='juliet@example.org' to='juliet@example.org/balcony' type='chat'>\
            <sent xmlns='urn:xmpp:carbons:2'><forwarded xmlns='urn:xmpp:forward:0'>\
            <message xmlns='jabber:client' from='juliet@example.org/phone' to='romeo@example.net' type='chat' id='d'>\
            <displayed xmlns='urn:xmpp:chat-markers:0' id='\(id)'/></message></forwarded></sent></message>
            """)
    }

    @Test("a message that is read elsewhere while it is being shown is withdrawn afterwards")
    func readMeanwhile() async throws {
        try receive("one")
        let consumer = NotificationPresenter.Consumer(handing)
        async let first = consumer.next()
        try await wait { handing.isAwaited }
        try handing.serve(outbox, harness.fence)
        #expect(await first?.body == "one")
        #expect(handing.isBusy)
        try displayed("one")
        async let second = consumer.next()
        try await wait { handing.isAwaited }
        try handing.serve(outbox, harness.fence)
        let withdrawn = await second
        #expect(withdrawn?.kind == .withdraw && withdrawn?.body == "one")
        async let third = consumer.next()
        try await wait { handing.isAwaited }
        try handing.serve(outbox, harness.fence)
        #expect(!handing.isBusy)
        #expect(try outbox.pending(limit: 9).isEmpty)
        handing.end()
        #expect(await third == nil)
    }

    @Test(
        "a notification that a task could not show is still owed when the task goes on, and comes again at the next try"
    )
    func notShown() async throws {
        try receive("one")
        try receive("two")
        let consumer = NotificationPresenter.Consumer(handing)
        async let first = consumer.next()
        try await wait { handing.isAwaited }
        try handing.serve(outbox, harness.fence)
        let failed = try #require(await first)
        Notifications(presenter: handing).notShown(failed)
        #expect(handing.hasFailed && !handing.isBusy)
        async let second = consumer.next()
        try await wait { handing.isAwaited }
        try handing.serve(outbox, harness.fence)
        #expect(await second?.body == "two", "what failed does not come at once")
        async let third = consumer.next()
        try await wait { handing.isAwaited }
        try handing.serve(outbox, harness.fence)
        #expect(try outbox.pending(limit: 9).map(\.notification) == [failed])
        handing.retry()
        try handing.serve(outbox, harness.fence)
        #expect(await third == failed)
        async let fourth = consumer.next()
        try await wait { handing.isAwaited }
        try handing.serve(outbox, harness.fence)
        #expect(try outbox.pending(limit: 9).isEmpty && !handing.hasFailed)
        handing.end()
        #expect(await fourth == nil)
    }

    @Test("a loop of an overtaken engine gets no notification that another process shows")
    func overtaken() async throws {
        try receive("one")
        let consumer = NotificationPresenter.Consumer(handing)
        async let first = consumer.next()
        try await wait { handing.isAwaited }
        try harness.database.run("UPDATE fence SET number = number + 1")
        #expect(throws: (any Error).self) { try handing.serve(outbox, harness.fence) }
        handing.end()
        #expect(await first == nil)
        #expect(try outbox.pending(limit: 9).count == 1)
    }

    private func wait(_ isIt: () -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(hangLimit)
        while !isIt(), .now < deadline { try await sleep(for: .milliseconds(5)) }
    }
}
