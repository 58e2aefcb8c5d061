import KalijAddress
import KalijClient

/// A command that changes something: leaves the intent, and waits for its outcome.
struct Changing {
    private let shared: SharedOptions

    init(_ shared: SharedOptions) { self.shared = shared }

    /// - Parameter arguments: `--wait` says for how many seconds.
    func run(_ intent: some Intent, of jid: JID?, _ arguments: Arguments) throws -> ExitStatus {
        let seconds = try arguments.integer("--wait", in: 1...86_400) ?? 30
        let id = try shared.directory.share(intent, for: jid)
        let account = try AccountTable(try shared.directory.read()).account(jid, in: shared.directory)
        let reader = HistoryReader(try shared.directory.read())
        func outcome() throws -> IntentOutcome? { try reader.outcome(of: id, by: account) }
        do {
            try Driving(shared, for: account).wait(within: seconds) { try ![nil, .pending].contains(outcome()) }
        } catch let failure as Failure {
            Output.note("accepted; the others are not told yet: \(failure.message)")
        }
        guard case .failed(let problem)? = try outcome() else { return .done }
        throw Failure(.badInput, problem)
    }
}
