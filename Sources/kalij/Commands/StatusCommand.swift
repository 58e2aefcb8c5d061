import KalijClient
import KalijCoordination

enum StatusCommand: Command {
    static let name = "status"
    static let usage = ""
    static let summary = "print the state of all accounts"
    static let details = """
        Prints the driving process with its role and start, and for each account its session, the numbers of messages stored,
        queued and of unknown outcome, messages waiting in the mailbox for a driving process, and the gaps in the history;
        then the stanzas set aside unprocessed, and the stored callbacks that could not be called. Only reads; a running
        process is not disturbed.
        With -v also the link of each account: the server's address, the round trip and the rate as measured, the cost of the
        last login in bytes and seconds, and what was learned of the server. With --json the link is always there.
        Exit status 78 if no account is stored.
        """
    static let options: [Arguments.Option] = []

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(0...0)
        let status = StatusReader(shared.directory, try shared.directory.read())
        let accounts = try status.accounts()
        // After a refused first login the directory has no account.
        guard !accounts.isEmpty else { throw DirectoryError.noAccount(directory: shared.directory.path) }
        var record = StatusRecord(
            directory: shared.directory.path, driver: try status.driver(), accounts: accounts,
            quarantine: try status.quarantined(), deadLetters: try status.deadLetters(),
            slowSteps: try status.slowSteps())
        record.lastEvent = try status.lastEvent
        if shared.json {
            Output.line(try JSONLine.of(record))
        } else {
            record.lines(verbose: shared.verbose, shared.clock).forEach { Output.line($0) }
        }
        return .done
    }
}
