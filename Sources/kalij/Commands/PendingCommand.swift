import KalijClient

enum PendingCommand: Command {
    static let name = "pending"
    static let usage = "[--results]"
    static let summary = "list what waits for an answer, or what came"
    static let details = """
        Lists what waits: requests that were sent and not answered, timers, handlers of promises; what is due first at the
        top. With --results: what became of the requests of `kalij iq`,
        `ping` and `disco`, oldest first. Reads the database only; a running
        process is not disturbed. Exit status 1 if there is nothing.

        With --json each line is an object: {"origin":"request","account":"...","handler":"...","id":"...",
        "responder":"...","since":"...","until":"..."}; with --results as `kalij iq --json` prints it.
        """
    static let options: [Arguments.Option] = [.flag("--results", "what came, instead of what waits")]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(0...0)
        let database = try shared.directory.read()
        if arguments.has("--results") {
            let questions = try Questions(database).answered()
            for question in questions {
                Output.line(shared.json ? try JSONLine.of(QuestionRecord(question)) : QuestionRecord(question).line)
            }
            return questions.isEmpty ? .nothing : .done
        }
        let pending = try PendingReader(database).all()
        for entry in pending {
            let record = PendingRecord(entry)
            Output.line(shared.json ? try JSONLine.of(record) : record.line)
        }
        return pending.isEmpty ? .nothing : .done
    }
}
