import Glibc
import KalijAddress
import KalijClient
import KalijRoles
import KalijStore

enum LogoutCommand: Command {
    static let name = "logout"
    static let usage = "JID [--remove] [--offline]"
    static let summary = "end an account's session and forget how to log in"
    static let details = """
        Ends the account's session and forgets its password or keys. Open requests are told that no answer will come.
        Messages stay and can be read with `kalij history`; unsent messages are sent after the next `kalij login JID`. With
        --remove everything stored about the account is deleted, with its messages.

        A running `kalij run` logs out at once; other accounts are not disturbed. Without one, this process logs out: it
        resumes the session for a moment to end the session at the server. If the server cannot be reached within 5 s, or with
        --offline, the logout is only local, and standard error says so; the server ends the session when its waiting time is
        over.

        With --json the line is {"event":"logout","account":"...","removed":false}, with "unreached":"..." if the session was
        left to the server.
        """
    static let options: [Arguments.Option] = [
        .flag("--remove", "delete everything stored about the account"),
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
        let jid = try JID(arguments.words[0]).bare
        let removing = arguments.has("--remove")
        guard shared.directory.exists else { throw DirectoryError.noAccount(directory: shared.directory.path) }
        let database = try shared.directory.open(.machine, role: .share, now: Clock.system.now())
        let table = AccountTable(database)
        let account = try table.account(jid, in: shared.directory)
        let isLeaving = try shared.directory.ringing {
            try table.requestLogout(account, removing: removing)
        }
        guard isLeaving else {
            Output.note("\(jid) is logged out already")
            return .done
        }
        let report = try wait(shared, online: !arguments.has("--offline")) {
            try table.all().first { $0.jid == jid }.map { $0.state == .out } ?? true
        }
        let unreached = report.unreached[jid]
        if let unreached { Output.note("the session was not ended at the server: \(unreached)") }
        if shared.json {
            Output.line(
                try JSONLine.of(Record(account: jid.description, removed: removing, unreached: unreached)))
        } else {
            Output.line(removing ? "\(jid) is removed" : "\(jid) is logged out; its messages are kept")
        }
        if report.wasRung { Background.sendWhatIsQueued(shared) }
        return .done
    }

    /// Waits until the driver has logged out, or logs out here.
    private static func wait(
        _ shared: SharedOptions, online: Bool, _ isDone: () throws -> Bool
    ) throws -> LogoutReport {
        let deadline = Clock.system.monotonic() + 10_000_000_000
        var report = LogoutReport()
        try WaitForDriver(directory: shared.directory).wait(
            until: {
                if try isDone() { return true }
                guard Clock.system.monotonic() < deadline else {
                    throw Failure(.tryAgain, "the driving process has not logged out yet, but will")
                }
                return false
            }, next: { deadline }, drive: { report = try Engine.logOutRequested(shared.directory, online: online) })
        return report
    }
}
