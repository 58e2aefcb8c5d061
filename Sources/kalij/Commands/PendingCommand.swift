import KalijClient

enum PendingCommand: Command {
    static let name = "pending"
    static let usage = "[--results]"
    static let summary = "list open requests, timers and promises, or results"
    static let details = """
        Lists requests without an answer, timers, and handlers of promises, the earliest deadline first; not the timer that
        renews the keys of encryption, which every session has. With --results, lists
        the outcomes of `kalij iq`, `ping` and `disco`, oldest first. Reads the database only; a running process is not
        disturbed. Exit status 1 if there is nothing to list.

        With --json each line is an object: {"origin":"request","account":"...","handler":"...","id":"...",
        "responder":"...","since":"...","until":"..."}; with --results as in `kalij iq --json`.
        """
    static let options: [Arguments.Option] = [.flag("--results", "list results instead of open requests")]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(0...0)
        let database = try shared.directory.read()
        if arguments.has("--results") {
            let questions = try AdHocRequests(database).answered()
            for question in questions {
                Output.line(shared.json ? try JSONLine.of(QuestionRecord(question)) : QuestionRecord(question).line)
            }
            return questions.isEmpty ? .nothing : .done
        }
        let pending = try PendingReader(database).all().filter { !$0.isUpkeep }
        for entry in pending {
            let record = PendingRecord(entry)
            Output.line(shared.json ? try JSONLine.of(record) : record.line)
        }
        return pending.isEmpty ? .nothing : .done
    }
}
