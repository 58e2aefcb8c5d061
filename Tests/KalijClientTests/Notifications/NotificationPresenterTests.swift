import KalijAddress
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

    private func notification() throws -> ConversationNotification {
        let account = try #require(try AccountTable(harness.database).all().first)
        return try ConversationNotification(
            with: try JID("romeo@example.net"), in: Conversations(reading: harness.database, of: account))
    }

    /// The loop requests the next notification, as after the body of a loop.
    private func next(_ consumer: NotificationPresenter.Consumer) async throws -> Notification? {
        async let next = consumer.next()
        try await wait { handing.isAwaited }
        try handing.serve(outbox, harness.fence)
        return await next
    }

    @Test("the desktop's number is stored for the conversation, and removed with its last notification")
    func handle() async throws {
        try receive("one")
        try receive("two")
        let consumer = NotificationPresenter.Consumer(handing)
        let first = try #require(try await next(consumer))
        #expect(try notification().newest?.body == "one" && notification().count == 1, "only what was delivered")
        #expect(try notification().handle == nil)
        Notifications(presenter: handing).shown(first, handle: "17")
        let second = try #require(try await next(consumer))
        #expect(try notification().handle == "17" && notification().newest?.body == "two")
        #expect(try notification().count == 2)
        Notifications(presenter: handing).shown(second, handle: "18")
        try displayed("one")
        #expect(try await next(consumer)?.kind == .withdraw)
        #expect(try notification().handle == "18" && notification().count == 1, "the other one is still unread")
        try displayed("two")
        #expect(try await next(consumer)?.kind == .withdraw)
        #expect(try notification().newest == nil && notification().handle == "18", "needed for the withdrawal")
        try receive("three")
        _ = try await next(consumer)
        try displayed("three")
        _ = try await next(consumer)
        async let end = consumer.next()
        try await wait { handing.isAwaited }
        try handing.serve(outbox, harness.fence)
        #expect(try notification().handle == nil && notification().newest == nil)
        handing.end()
        #expect(await end == nil)
    }

    @Test("a hidden notification has its conversation as a key, also when it is read while it is being shown")
    func hidden() async throws {
        try harness.database.run(
            "INSERT INTO setting(account, conversation, name, value) VALUES (?, '', 'preview', 'off')",
            [.integer(harness.account.id)])
        try receive("one")
        let consumer = NotificationPresenter.Consumer(handing)
        let first = try #require(try await next(consumer))
        #expect(first.peer == "romeo@example.net" && first.conversation.isEmpty && first.body.isEmpty)
        #expect(try !notification().showsText)
        try displayed("one")
        let second = try #require(try await next(consumer))
        #expect(second.kind == .withdraw && second.peer == "romeo@example.net")
        #expect(try notification().newest == nil)
        handing.end()
    }

    private func wait(_ isIt: () -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(hangLimit)
        while !isIt(), .now < deadline { try await sleep(for: .milliseconds(5)) }
    }
}
