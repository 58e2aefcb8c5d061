import Glibc
import KalijClient

/// Requests that the server remove an account: the first half of `kalij logout --unregister`.
struct UnregisterFlow {
    private let account: Account
    private let shared: SharedOptions

    /// The timeout for the server's response, in seconds.
    private static let timeout = 30

    init(_ account: Account, _ shared: SharedOptions) { (self.account, self.shared) = (account, shared) }

    /// - Parameter isConfirmed: whether to skip the user's confirmation.
    /// - Throws: `Failure` if the server has not removed the account, or the outcome is undetermined.
    func run(isConfirmed: Bool, _ table: AccountTable) throws {
        guard account.state == .active else {
            throw Failure(.badConfiguration, "\(account.jid) is logged out: log in first")
        }
        if !isConfirmed { try confirm() }
        try shared.directory.accept(for: account.jid) { try $0.unregister() }
        do {
            try DriverWait(shared, for: account).wait(within: Self.timeout) {
                try table.lastChange(of: account) != .unknown
            }
        } catch let error as EngineError {
            // The server ends the session of a removed account, and refuses the next login.
            guard case .refused = error, try table.lastChange(of: account) != .unknown else { throw error }
        }
        switch try table.lastChange(of: account) {
        case .done: break
        case .refused(let problem): throw Failure(.refused, "the server has not removed \(account.jid): \(problem)")
        case .unknown:
            throw Failure(
                .temporaryFailure, "the server has not answered; the next login shows whether \(account.jid) is removed"
            )
        }
    }

    private func confirm() throws {
        guard isatty(STDIN_FILENO) == 1 else { throw Failure(.usage, "say --yes: nobody is there to be asked") }
        let line = try PasswordPrompt.readLine(
            "Remove \(account.jid) at its server, with everything stored there and here? Type yes: ", isHidden: false)
        guard line.map({ String(decoding: $0, as: UTF8.self) }) == "yes" else {
            throw Failure(.badInput, "nothing was removed")
        }
    }
}
