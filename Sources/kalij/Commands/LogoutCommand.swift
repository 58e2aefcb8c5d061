import Glibc
import KalijAddress
import KalijClient
import KalijRoles
import KalijStore

enum LogoutCommand: Command {
    static let name = "logout"
    static let usage = "JID [--remove]"
    static let summary = "end an account's session and forget how to log in"
    static let details = """
        Ends the account's session and forgets its password or keys. What waits for an answer is told that none will come.
        Messages stay and can be read with `kalij history`; those that are not sent yet are sent after the next
        `kalij login JID`. With --remove everything that is stored about the account is deleted, messages included.

        A running `kalij run` is told, and does it at once; the other accounts are not disturbed.
        """
    static let options: [Arguments.Option] = [.flag("--remove", "delete everything that is stored about the account")]

    private struct Record: Encodable {
        let event = "logout"
        let account: String
        let removed: Bool
    }

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...1)
        let jid = try JID(arguments.words[0]).bare
        let removing = arguments.has("--remove")
        guard shared.directory.exists else { throw DirectoryError.noAccount(directory: shared.directory.path) }
        let database = try shared.directory.open(.machine, role: .share, now: Clock.system.now())
        let table = AccountTable(database)
        let account = try table.account(jid, in: shared.directory)
        let bell = Doorbell.bell(directory: shared.directory.path)
        guard try table.leave(account, removing: removing) else {
            Output.note("\(jid) is logged out already")
            return .done
        }
        _ = consume bell
        try wait(shared) {
            try table.all().first { $0.jid == jid }.map { $0.state == .out } ?? true
        }
        if shared.json {
            Output.line(try JSONLine.of(Record(account: jid.description, removed: removing)))
        } else {
            Output.line(removing ? "\(jid) is removed" : "\(jid) is logged out; its messages are kept")
        }
        return .done
    }

    /// Waits until whoever drives has done it, or does it.
    private static func wait(_ shared: SharedOptions, _ isDone: () throws -> Bool) throws {
        for _ in 0..<200 {
            if try isDone() { return }
            do {
                try Engine.logOutLeaving(shared.directory)
            } catch is FenceError {
                usleep(50_000)  // another process drives, and does it
            }
        }
        throw Failure(.tryAgain, "the process that drives has not done it yet; it will")
    }
}
