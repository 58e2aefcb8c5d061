import KalijAddress
import KalijClient

enum PasswordCommand: Command {
    static let name = "password"
    static let usage = "JID [--password-file FILE] [--wait SECONDS]"
    static let summary = "change an account's password at its server"
    static let details = """
        Changes the password of JID at its server (XEP-0077), over the account's session, and stores what is needed to log in
        with the new password. The new password comes as in `kalij login`; at the terminal the password is asked for twice.

        The driving process (`kalij run`) asks the server; without one, this process does. If a process is killed meanwhile, or
        the answer is lost, both passwords are kept until the server has answered or a login has shown which of both counts.
        Exit status 0 if the password is changed, 77 if the server refuses, 75 if nobody knows after SECONDS.
        """
    static let options: [Arguments.Option] = [
        .value("--password-file", "FILE", "read the new password from this file"),
        .value("--wait", "SECONDS", "wait so long for the server's answer (default 30)"),
    ]

    private struct Record: Encodable {
        let event = "password"
        let account: String
        let changed: Bool
        let problem: String?
    }

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...1)
        let jid = try LoginCommand.account(arguments.operands[0]).bare
        let seconds = try arguments.integer("--wait", in: 1...86_400) ?? 30
        let table = AccountTable(try shared.directory.read())
        let account = try table.account(jid, in: shared.directory)
        guard account.state == .active else { throw Failure(.badConfiguration, "\(jid) is logged out") }
        let password = try Password.read(file: arguments.value("--password-file"), for: jid, isNew: true)
        try shared.directory.accept(for: jid) { try $0.changePassword(to: password) }
        Output.accepted()
        try DriverWait(shared, for: account).wait(within: seconds) { try table.lastChange(of: account) != .unknown }
        let outcome = try table.lastChange(of: account)
        let problem = if case .refused(let words) = outcome { words } else { nil as String? }
        if outcome == .unknown {
            throw Failure(
                .temporaryFailure,
                "the server has not answered; both passwords are kept until a login shows which counts")
        }
        if shared.json {
            Output.line(
                try JSONLine.of(Record(account: jid.description, changed: outcome == .done, problem: problem)))
        } else if let problem {
            Output.error("the server refuses the new password: \(problem)")
        } else {
            Output.line("the password of \(jid) is changed")
        }
        return problem == nil ? .done : .refused
    }
}
