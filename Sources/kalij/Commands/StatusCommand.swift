import KalijClient
import KalijRoles

enum StatusCommand: Command {
    static let name = "status"
    static let usage = ""
    static let summary = "print the state of all accounts"
    static let details = """
        Prints which process drives, as what and since when, and for each account its session, what is stored, queued and of
        unknown outcome, what still waits in the mailbox for a process that drives, and where the history has gaps; then
        which stanzas were set aside unprocessed, and which stored callbacks could not be called. Only reads; a running
        process is not disturbed.
        Exit status 78 if no account is stored.
        """
    static let options: [Arguments.Option] = []

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(0...0)
        let status = StatusReader(shared.directory, try shared.directory.read())
        var record = StatusRecord(
            directory: shared.directory.path, driver: try status.driver(), accounts: try status.accounts(),
            quarantine: try status.quarantined(), deadLetters: try status.deadLetters(),
            slowSteps: try status.slowSteps())
        record.lastEvent = try EventLog(shared.directory).last
        if shared.json {
            Output.line(try JSONLine.of(record))
        } else {
            record.lines.forEach { Output.line($0) }
        }
        return .done
    }
}
