import KalijStore
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// "An application is a feature: it brings its own tables, its turn in an incoming message's own step, and sends from there."
@Suite struct ApplicationTests {
    /// A harness in whose directory the application's tables were made.
    private func harness(_ features: [any Feature.Type]) throws -> StepHarness {
        let harness = try StepHarness(features: features)
        try Schema.accounts(features).migrate(harness.database)
        try harness.bind(answered: .all)
        try harness.answerFeatures(archive: false)
        try harness.acknowledgeAll()
        return harness
    }

    private func message(_ id: String, _ body: String) -> String {
        "<message from='romeo@example.net/orchard' to='juliet@example.org' type='chat' id='\(id)'><body>\(body)</body></message>"
    }

    private func counts(_ harness: StepHarness) throws -> [String] {
        try harness.database.prepare("SELECT sender, count FROM org_example_echo").all {
            "\($0.text("sender")) \($0.integer("count"))"
        }
    }

    @Test("a message, its count and its answer are one step; the answer is told, and leaves after the commit")
    func answers() throws {
        let harness = try harness([Echo.self])
        let effects = try harness.receive(message("1", "hello"))
        #expect(effects.queued)
        #expect(
            effects.events.map { type(of: $0.content).name } == [
                "message", "state", "org.example.echo.answered", "unread",
            ])
        #expect(try harness.receive(message("2", "you there?")).queued)
        #expect(
            try harness.history() == [
                "in hello", "out 1: hello (queued)", "in you there?", "out 2: you there? (queued)",
            ])
        #expect(try harness.queue() == ["message chat 1: hello", "message chat 2: you there?"])
        #expect(try counts(harness) == ["romeo@example.net 2"])
    }

    @Test("what an application throws makes the step void: nothing is stored, counted, or queued")
    func throwing() throws {
        let harness = try harness([Echo.self, Thrower.self])
        let handled = try harness.steps.load().handled
        #expect(throws: Thrower.Problem.self) { try harness.receive(message("1", "throw")) }
        #expect(try harness.history() == [] && harness.queue() == [] && counts(harness) == [])
        #expect(try harness.steps.load().handled == handled)
        try harness.receive(message("2", "fine"))
        #expect(try counts(harness) == ["romeo@example.net 1"])
    }

    @Test("an answer that cannot be sent is refused before anything is written, and the step can go on")
    func refused() throws {
        let harness = try harness([Echo.self])
        try harness.receive(message("1", "long"))
        #expect(try harness.history() == ["in long", "out 1: too long (queued)"])
    }

    @Test("an answer under an id that was accepted before is not sent again")
    func sameID() throws {
        let harness = try harness([])
        let bob = JID.received("bob@example.net")
        let first = try harness.perform { try $0.accept("once", to: bob, id: "mine") }
        let second = try harness.perform { try $0.accept("twice", to: bob, id: "mine") }
        #expect(first.id == second.id && second.body == "once")
        #expect(try harness.queue() == ["message chat once"])
    }

    @Test("what the archive shows from before the account was here is history, what came since is not")
    func history() throws {
        let harness = try StepHarness(features: [Echo.self])
        try Schema.accounts([Echo.self]).migrate(harness.database)
        try harness.bind(answered: .all)
        try harness.answerFeatures(archive: true)
        try harness.receive(harness.archived("a1", message("1", "old"), at: "2026-11-20T10:00:00Z"))
        try harness.receive(harness.archived("a2", message("2", "new"), at: "2026-11-21T12:00:01Z"))
        #expect(try counts(harness) == ["romeo@example.net 1"])
        #expect(try harness.history().filter { $0.hasPrefix("out") } == ["out 1: new (queued)"])
    }

    @Test(
        "statements of an application touch its own tables alone, and never the transaction",
        arguments: [
            "UPDATE message SET body = ''", "SELECT body FROM message", "DELETE FROM session", "COMMIT", "SAVEPOINT a",
            "SELECT * FROM org_example_echo, account", "PRAGMA synchronous=OFF", "ATTACH 'a' AS a",
            "CREATE TABLE org_example_echo_more(a)", "INSERT INTO org_example_echo SELECT sender, 1 FROM message",
        ])
    func confined(_ sql: String) throws {
        let harness = try harness([Echo.self])
        let error = #expect(throws: StoreError.self) {
            _ = try harness.perform { try Confined.run(sql, in: $0) }
        }
        #expect(error?.code == .notAllowed, "\(String(describing: error))")
        // Others do as before, in the same connection.
        try harness.receive(message("1", "hello"))
        #expect(try counts(harness) == ["romeo@example.net 1"])
    }

    @Test("a row that refers to an account goes with the account")
    func cascade() throws {
        let harness = try harness([Referring.self])
        try harness.perform { step in
            try step.tables.run("INSERT INTO org_example_referring VALUES (?)", [.integer(step.account.id)])
        }
        try harness.database.run("DELETE FROM account")
        #expect(try harness.number("SELECT count(*) FROM org_example_referring") == 0)
    }
}

/// Runs texts that are no literals, in the way that an application's literals are run.
private enum Confined {
    static func run(_ sql: String, in step: Step) throws {
        switch sql {
        case "UPDATE message SET body = ''": try step.tables.run("UPDATE message SET body = ''")
        case "SELECT body FROM message": _ = try step.tables.all("SELECT body FROM message") { _ in 1 }
        case "DELETE FROM session": try step.tables.run("DELETE FROM session")
        case "COMMIT": try step.tables.run("COMMIT")
        case "SAVEPOINT a": try step.tables.run("SAVEPOINT a")
        case "SELECT * FROM org_example_echo, account":
            _ = try step.tables.first("SELECT * FROM org_example_echo, account") { _ in 1 }
        case "PRAGMA synchronous=OFF": try step.tables.run("PRAGMA synchronous=OFF")
        case "ATTACH 'a' AS a": try step.tables.run("ATTACH 'a' AS a")
        case "CREATE TABLE org_example_echo_more(a)": try step.tables.run("CREATE TABLE org_example_echo_more(a)")
        default: try step.tables.run("INSERT INTO org_example_echo SELECT sender, 1 FROM message")
        }
    }
}
