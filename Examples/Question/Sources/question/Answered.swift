import KalijClient

/// The handler that waits for an answer. A closure would be gone with the process; this is a row in the database: the
/// name, and the two values.
struct Answered: InvalidatableHandler {
    static let name = "org.example.question.answered"
    /// The asked entity.
    var whom: String
    /// The purpose of the question.
    var purpose: String

    func call(_ reply: IQReply, in step: Step) throws {
        switch reply {
        case .result(let iq): try note(iq.children.first?.description ?? "yes", in: step)
        case .error(let error, _): try note("refused: \(error.condition.rawValue)", in: step)
        case .timeout: try note("no answer", in: step)
        }
    }

    /// No answer will come: the question's session is lost, or the account was logged out.
    func invalidate(_ reason: Invalidation, in step: Step) throws { try note("never: \(reason)", in: step) }

    /// Within the step that took the answer: either both are committed or neither.
    private func note(_ text: String, in step: Step) throws {
        try step.tables.run(
            "INSERT INTO org_example_question(purpose, whom, answer) VALUES (?, ?, ?)",
            [.text(purpose), .text(whom), .text(text)])
    }
}

/// The application's addition to the engine: its own table in the same database, and the handler that fills the table.
enum Answers: Feature {
    static let name = "org.example.question"
    static let migrations = [
        Migration(
            "org.example.question/1", "CREATE TABLE org_example_question(purpose TEXT, whom TEXT, answer TEXT)")
    ]
    static var handlers: [any Handler<Step>.Type] { [Answered.self] }

    /// All answers, in the order of arrival.
    static func all(in directory: AccountDirectory) throws -> [String] {
        let database = try directory.read()
        let isThere = try database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'org_example_question'")
            .first { _ in true }
        guard isThere == true else { return [] }
        return try database.prepare("SELECT purpose, whom, answer FROM org_example_question ORDER BY rowid").all {
            row in
            "\(row.text("purpose")), asked of \(row.text("whom")): \(row.text("answer"))"
        }
    }

    /// Whether a handler still waits for an answer.
    static func areAwaited(in directory: AccountDirectory) throws -> Bool {
        try PendingReader(try directory.read()).all().contains { $0.handler == Answered.name }
    }
}
