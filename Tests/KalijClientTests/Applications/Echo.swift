import Glibc
import KalijClient

/// Counts the messages of each sender and answers them: an application, which imports KalijClient alone.
enum Echo: Feature, StoredMessageObserver {
    static let name = "org.example.echo"
    static let migrations = [
        Migration(
            "org.example.echo/1", "CREATE TABLE org_example_echo(sender TEXT PRIMARY KEY, count INTEGER NOT NULL)")
    ]
    static var events: [any EventContent.Type] { [Answered.self] }

    struct Answered: EventContent {
        static let name = "org.example.echo.answered"
        static let meaning = "A message was answered."
        var line: PrintedText? { "answered" }
    }

    static func didStore(_ message: Message, from incoming: IncomingMessage, in step: Step) throws {
        guard message.direction == .incoming, let body = message.body, try !step.isHistory(incoming) else { return }
        let sender = incoming.sender.bare
        let count = try step.tables.first(
            "INSERT INTO org_example_echo VALUES (?, 1) ON CONFLICT DO UPDATE SET count = count + 1 RETURNING count",
            [.text(sender.description)]
        ) { $0.integer() }
        let answer = "\(count ?? 0): " + (body == "long" ? String(repeating: "long ", count: 100_000) : body)
        do {
            try step.accept(answer, to: sender)
        } catch is AcceptError {
            try step.accept("\(count ?? 0): too long", to: sender)
        }
        step.emit(Answered())
    }
}

/// Throws in its turn, after others have had theirs.
enum Thrower: Feature, StoredMessageObserver {
    struct Problem: Error {}
    static let name = "org.example.thrower"
    static func didStore(_ message: Message, from incoming: IncomingMessage, in step: Step) throws {
        if message.body == "throw" { throw Problem() }
    }
}

/// Its turn ends the process.
enum Killer: Feature, StoredMessageObserver {
    static let name = "org.example.killer"
    static func didStore(_ message: Message, from incoming: IncomingMessage, in step: Step) throws {
        if message.body == "kill" { kill(getpid(), SIGKILL) }
    }
}

/// Its rows go with their account.
enum Referring: Feature {
    static let name = "org.example.referring"
    static let migrations = [
        Migration(
            "org.example.referring/1",
            "CREATE TABLE org_example_referring(account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE)")
    ]
}
