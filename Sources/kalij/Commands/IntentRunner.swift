import KalijAddress
import KalijClient
import KalijCoordination
import KalijTransport

/// Accepts an intent, and ensures that it is performed: the common part of the commands that change something.
struct IntentRunner {
    private let shared: SharedOptions
    private let arguments: Arguments

    /// The options of all such commands.
    static let options: [Arguments.Option] = [
        .value("--account", "JID", "act for this account, if several are stored"),
        .flag("--queue-only", "only accept the change, never go online"),
        .flag("--wait", "wait at most 30 seconds for the outcome, also of another process"),
    ]

    /// The end of the help of all such commands.
    static let details = """
        With exit status 0 the change is on the disk, and happens exactly once, whatever becomes of any process. The driving
        process (`kalij run`) makes the change; without one, this process does, and stays until it is done. If your server
        cannot be reached, standard error says why, and the next driving process goes on. Exit status 65 if the change cannot
        be made.

        With --wait the exit status says what came of it, after at most 30 seconds: 0 done, 65 failed, 75 unknown so far. With
        --json the first line is {"event":"accepted", "command":..., "origin_id":...}, and a second line with the event `done`
        gives the outcome, if this process knows: with an `error` if the change has failed.
        """

    init(_ arguments: Arguments, _ shared: SharedOptions) { (self.arguments, self.shared) = (arguments, shared) }

    /// - Parameters:
    ///   - jid: the account; nil for the one of the arguments.
    ///   - waiting: whether to wait for the outcome, regardless of the arguments.
    ///   - isTold: whether to print the events of the intent with `--json`.
    ///   - accepted: called when the intent is on the disk.
    /// - Throws: `Failure`, and the errors of `AccountDirectory.share`. In each case nothing was accepted.
    func run(
        _ intent: some Intent, of jid: JID? = nil, waiting: Bool = false, isTold: Bool = true,
        accepted: () throws -> Void = {}
    ) throws -> ExitStatus {
        guard !arguments.has("--wait") || !arguments.has("--queue-only") else {
            throw Failure(.usage, "--queue-only never goes online, so there is nothing to --wait for")
        }
        let jid = try jid ?? arguments.value("--account").map { try JID($0) }
        let id = try shared.directory.share(intent, for: jid)
        try accepted()
        // A query changes nothing.
        if !(intent is FetchProfile) { Output.accepted() }
        let account = try AccountTable(try shared.directory.read()).account(jid, in: shared.directory)
        let record = ActionRecord("accepted", type(of: intent).name, id, of: account)
        let (isWaiting, isTold) = (waiting || arguments.has("--wait"), isTold && shared.json)
        if isTold { Output.line(try JSONLine.of(record)) }
        guard !arguments.has("--queue-only") else { return .done }
        let failure = try drive(id, account, waiting: isWaiting)
        let outcome = try HistoryReader(try shared.directory.read()).outcome(of: id, by: account)
        if isTold, let record = ActionRecord(outcome, type(of: intent).name, id, of: account) {
            Output.line(try JSONLine.of(record))
        }
        return try status(of: outcome, type(of: intent).name, failure, waiting: isWaiting)
    }

    /// Drives until the outcome is available, if no other process drives.
    /// - Returns: why the change was not made yet; nil if it was, or if another process performs it.
    private func drive(_ id: String, _ account: Account, waiting: Bool) throws -> Failure? {
        let reader = HistoryReader(try shared.directory.read())
        let isKnown = { ![nil, .pending].contains(try reader.outcome(of: id, by: account)) }
        let progress = Progress(of: account.jid.description, endsUnreached: true)
        switch BackgroundSender.send(shared, progress, mayEnd: isKnown) {
        case .failed(let failure): return failure
        case .driven: return progress.problem.map { Failure(.unavailable, $0) }
        case .handedOver:
            guard waiting else { return nil }
            let deadline = Clock.system.monotonic() + Int64(BackgroundSender.budget) * 1_000_000_000
            try WaitForDriver(directory: shared.directory).wait(
                until: { try isKnown() || Clock.system.monotonic() >= deadline }, next: { deadline },
                drive: {
                    _ = BackgroundSender.send(shared, progress, mayEnd: isKnown)
                    try progress.checkInterruption()
                })
            return nil
        }
    }

    /// - Throws: `Failure` if the intent has failed.
    private func status(
        of outcome: IntentOutcome?, _ command: String, _ failure: Failure?, waiting: Bool
    ) throws -> ExitStatus {
        switch outcome {
        case .done?: return .done
        case .failed(let reason)?: throw Failure(.badInput, "\(command) failed: \(reason)")
        case .pending?, nil:
            if let failure {
                Output.error("accepted, but not done yet: \(failure.message)")
                Output.notice("The next process that is online goes on: `kalij run`, `wake`, `send` or `flush`.")
            } else if waiting {
                Output.error("accepted, but not done within \(Int(BackgroundSender.budget)) s")
            }
            return waiting ? failure?.status ?? .temporaryFailure : .done
        }
    }
}

/// The outcome of an intent, in JSON.
struct ActionRecord: Encodable {
    private let event: String
    private let account: String
    private let at: String
    private let command: String
    private let originID: String
    private let error: String?

    private enum CodingKeys: String, CodingKey {
        case event, account, at, command, error
        case originID = "origin_id"
    }

    /// Nil if there is no outcome yet.
    init?(_ outcome: IntentOutcome?, _ command: String, _ id: String, of account: Account) {
        switch outcome {
        case .done?: self.init("done", command, id, of: account)
        case .failed(let reason)?: self.init("done", command, id, of: account, reason)
        case .pending?, nil: return nil
        }
    }

    init(_ event: String, _ command: String, _ id: String, of account: Account, _ error: String? = nil) {
        (self.event, self.command, originID, self.error) = (event, command, id, error)
        self.account = account.jid.description
        at = Stamp.of(Clock.system.now())
    }
}
