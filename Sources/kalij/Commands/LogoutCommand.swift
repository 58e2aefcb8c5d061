import Glibc
import KalijAddress
import KalijClient
import KalijCoordination
import KalijStore

enum LogoutCommand: Command {
    static let name = "logout"
    static let usage = "JID [--remove] [--offline] | JID --unregister [--yes]"
    static let summary = "end an account's session and forget how to log in"
    static let details = """
        Ends the account's session and forgets its password or keys. Open requests are told that no answer will come.
        Messages stay and can be read with `kalij history`; unsent messages are sent after the next `kalij login JID`. With
        --remove everything stored about the account is deleted, with its messages.

        With --unregister the server removes the account with everything that the server stores, and then everything stored here
        is deleted, too. Nobody can undo that: at a terminal the command asks, elsewhere --yes is needed. If the server's answer
        is lost, the next login shows whether the account is gone; then the messages here stay until `kalij logout JID --remove`.

        A running `kalij run` logs out at once; other accounts are not disturbed. Without one, this process logs out: it
        resumes the session for a moment to end the session at the server. If the server cannot be reached within 5 s, or with
        --offline, the logout is only local, and standard error says so; the server ends the session when its waiting time is
        over.

        With --json the line is as follows, with "unreached":"..." if the session was left to the server:
          {"event":"logout","account":"...","removed":false}
        """
    static let options: [Arguments.Option] = [
        .flag("--remove", "delete everything stored about the account"),
        .flag("--unregister", "have the server remove the account, and delete everything here"),
        .flag("--yes", "do not ask before --unregister"),
        .flag("--offline", "do not connect to end the session at the server; a running `kalij run` does"),
    ]

    private struct Record: Encodable {
        let event = "logout"
        let account: String
        let removed: Bool
        let unreached: String?
    }

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...1)
        let jid = try JID(arguments.operands[0]).bare
        let removing = arguments.has("--remove") || arguments.has("--unregister")
        guard shared.directory.exists else { throw DirectoryError.noAccount(directory: shared.directory.path) }
        let database = try shared.directory.open(.machine, role: .share, now: Clock.system.now())
        let table = AccountTable(database)
        let account = try table.account(jid, in: shared.directory)
        if arguments.has("--unregister") {
            guard !arguments.has("--offline") else { throw Failure(.usage, "--unregister needs the server") }
            try UnregisterFlow(account, shared).run(isConfirmed: arguments.has("--yes"), table)
        }
        let isLeaving = try shared.directory.ringing {
            try table.requestLogout(account, removing: removing)
        }
        guard isLeaving else {
            Output.notice("\(jid) is logged out already")
            return .done
        }
        Output.accepted()
        let report = try wait(shared, online: !arguments.has("--offline")) {
            try table.all().first { $0.jid == jid }.map { $0.state == .out } ?? true
        }
        // A server that has removed the account has ended the session, too.
        let unreached = arguments.has("--unregister") ? nil : report.unreached[jid]
        if let unreached { Output.notice("the session was not ended at the server: \(unreached)") }
        if shared.json {
            Output.line(
                try JSONLine.of(Record(account: jid.description, removed: removing, unreached: unreached)))
        } else {
            Output.line(removing ? "\(jid) is removed" : "\(jid) is logged out; its messages are kept")
        }
        if report.wasRung { BackgroundSender.sendWhatIsQueued(shared) }
        return .done
    }

    /// Waits until the driver has logged out; without a driver, logs out in this process.
    private static func wait(
        _ shared: SharedOptions, online: Bool, _ isDone: () throws -> Bool
    ) throws -> LogoutReport {
        let deadline = Clock.system.monotonic() + 10_000_000_000
        var report = LogoutReport()
        try WaitForDriver(directory: shared.directory).wait(
            until: {
                if try isDone() { return true }
                guard Clock.system.monotonic() < deadline else {
                    throw Failure(.temporaryFailure, "the driving process has not logged out yet, but will")
                }
                return false
            }, next: { deadline }, drive: { report = try Engine.logOutRequested(shared.directory, online: online) })
        return report
    }
}
