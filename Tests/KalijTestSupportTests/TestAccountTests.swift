import KalijClient
import KalijTestSupport
import KalijXML
import Testing

/// "An app's tests run without a server, with kills."
@Suite struct TestAccountTests {
    /// Answers, asks the server, and asks again after a minute.
    enum Asking: Feature, StoredMessageObserver {
        static let name = "org.example.asking"
        static let migrations = [
            Migration(
                "org.example.asking/1", "CREATE TABLE org_example_asking(id INTEGER PRIMARY KEY, word TEXT NOT NULL)")
        ]
        static var handlers: [any Handler<Step>.Type] { [Answered.self, Later.self] }

        struct Answered: Handler {
            static let name = "org.example.asking.answered"
            func call(_ reply: IQReply, in step: Step) throws {
                if case .result = reply { try note("answered", in: step) } else { try note("failed", in: step) }
            }
        }

        struct Later: Handler {
            static let name = "org.example.asking.later"
            let sender: String
            func call(_: Void, in step: Step) throws { try step.accept("still there?", to: JID.received(sender)) }
        }

        static func note(_ word: String, in step: Step) throws {
            try step.tables.run("INSERT INTO org_example_asking(word) VALUES (?)", [.text(word)])
        }

        static func didStore(_ message: Message, from incoming: IncomingMessage, in step: Step) throws {
            guard message.direction == .incoming else { return }
            if message.body == "refuse" { throw Refusal() }
            try step.accept("yes", to: incoming.sender.bare)
        }
    }

    struct Refusal: Error {}

    /// Counts in memory: what a kill takes.
    enum Forgetful: Feature, StoredMessageObserver {
        static let name = "org.example.forgetful"
        @TaskLocal static var counter = Counter()

        static func didStore(_ message: Message, from incoming: IncomingMessage, in step: Step) throws {
            guard message.direction == .incoming else { return }
            counter.count += 1
            try step.accept("\(counter.count)", to: incoming.sender.bare)
        }
    }

    // Used by a single test's thread.
    final class Counter: @unchecked Sendable { var count = 0 }

    @Test("a message is answered once, whenever the process is killed", arguments: [nil] + TestAccount.Kill.allCases)
    func once(kill: TestAccount.Kill?) throws {
        let bot = try TestAccount(features: [Asking.self])
        for number in 1...3 {
            let sent = try bot.receive("\(number)", from: "romeo@example.net/a", killed: kill)
            #expect(sent.map(\.body) == ["yes"] && sent.first?["to"] == "romeo@example.net")
        }
        #expect(bot.kills == (kill == nil ? 0 : 3))
        #expect(try bot.sent().isEmpty)
        let history = try HistoryReader(bot.directory).messages(of: bot.account, with: nil, limit: 99)
        #expect(history.map(\.body) == ["1", "yes", "2", "yes", "3", "yes"])
        #expect(history.compactMap(\.state) == [.acked, .acked, .acked])
        #expect(bot.events.contains { $0.content is MessageStored })
    }

    @Test("a feature that counts in memory is found out by a kill before the commit, and by no other")
    func forgetful() throws {
        try Forgetful.$counter.withValue(Counter()) {
            let bot = try TestAccount(features: [Forgetful.self])
            #expect(try bot.receive("a", from: "romeo@example.net", killed: .afterSending).map(\.body) == ["1"])
            #expect(try bot.receive("b", from: "romeo@example.net", killed: .beforeCommit).map(\.body) == ["3"])
        }
    }

    @Test("what a feature throws is thrown, and nothing has happened")
    func throwing() throws {
        let bot = try TestAccount(features: [Asking.self])
        #expect(throws: Refusal.self) { try bot.receive("refuse", from: "romeo@example.net") }
        #expect(try HistoryReader(bot.directory).messages(after: 0, of: bot.account).isEmpty)
        #expect(try bot.receive("fine", from: "romeo@example.net").map(\.body) == ["yes"])
    }

    @Test("a feature that the engine would refuse is refused")
    func refused() {
        enum Nameless: Feature { static let name = "bot" }
        #expect(throws: FeatureError.badName("bot")) { try TestAccount(features: [Nameless.self]) }
    }

    @Test("the ids of messages stay places for an application, over kills")
    func places() throws {
        let bot = try TestAccount(features: [Asking.self])
        var (place, seen): (Int64, [String?]) = (0, [])
        for body in ["a", "b", "c"] {
            try bot.receive(body, from: "romeo@example.net", killed: .beforeCommit)
            let new = try HistoryReader(bot.directory).messages(after: place, of: bot.account)
            seen += new.map(\.body)
            place = new.last?.id ?? place
        }
        #expect(seen == ["a", "yes", "b", "yes", "c", "yes"])
    }

    private func ask(_ bot: TestAccount, _ to: String?) throws {
        try bot.perform { step in
            let iq = Element("iq", xmlns: "jabber:client", attributes: ["type": "get"])
            iq["to"] = to
            iq.add(Element("query", xmlns: "urn:example:asking"))
            try step.send(iq, then: Asking.Answered(), within: .seconds(30))
        }
    }

    private func words(_ bot: TestAccount) throws -> [String] {
        try bot.perform { step in
            try step.tables.all("SELECT word FROM org_example_asking ORDER BY id") { $0.text() }
        }
    }

    @Test("requests to the server are answered by the test, or refused; a request to others is sent, and expires")
    func requests() throws {
        let bot = try TestAccount(features: [Asking.self])
        try ask(bot, nil)
        #expect(try bot.sent().isEmpty && words(bot) == ["failed"])
        bot.answer = { request in
            guard request.child("query", "urn:example:asking") != nil else { return nil }
            return Element("iq", xmlns: "jabber:client", attributes: ["type": "result"])
        }
        try ask(bot, "bot@example.org")
        #expect(try bot.sent().isEmpty && words(bot) == ["failed", "answered"])
        try ask(bot, "romeo@example.net/a")
        #expect(try bot.sent().map { $0["to"] } == ["romeo@example.net/a"])
        try bot.kill()
        #expect(try bot.wait(.seconds(31)).isEmpty && words(bot) == ["failed", "answered", "failed"])
    }

    @Test(
        "a timer is called when the test lets the time pass, once, whenever the process is killed",
        arguments: TestAccount.Kill.allCases)
    func timers(kill: TestAccount.Kill) throws {
        let bot = try TestAccount(features: [Asking.self])
        try bot.perform { try $0.schedule(Asking.Later(sender: "romeo@example.net"), after: .seconds(60)) }
        #expect(try bot.wait(.seconds(59)).isEmpty)
        #expect(try bot.wait(.seconds(2), killed: kill).map(\.body) == ["still there?"])
        #expect(try bot.wait(.seconds(3600)).isEmpty)
    }
}
