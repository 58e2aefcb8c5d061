import KalijAddress
import KalijClient
import KalijCoordination
import KalijStore
import KalijXML

/// Sends requests and waits for the responses, in consecutive rounds of concurrent requests.
final class RequestRunner {
    private let shared: SharedOptions
    private let account: JID?
    private let seconds: Int
    private let database: Database
    private var rounds: ArraySlice<[Element]>
    private let pause: Int64
    /// The requests of the current round, and its deadline.
    private var open: [Int64] = []
    private var deadline: Int64 = 0
    /// The start of the next round; nil while a round is in progress.
    private var nextRound: Int64?
    private var isDone = false
    private let report: (AdHocRequests.Question) -> Void

    /// - Parameters:
    ///   - account: the requesting account; nil selects the only account.
    ///   - seconds: the timeout for a response.
    ///   - pause: seconds between two rounds.
    ///   - tell: receives each request in its state at the end of the wait, answered or not.
    /// - Throws: `DirectoryError`, `StoreError`
    init(
        _ rounds: [[Element]], of account: JID?, within seconds: Int, pause: Double = 0, _ shared: SharedOptions,
        tell: @escaping (AdHocRequests.Question) -> Void
    ) throws {
        guard shared.directory.exists else { throw DirectoryError.noAccount(directory: shared.directory.path) }
        self.shared = shared
        self.account = account
        self.seconds = seconds
        self.report = tell
        self.rounds = rounds[...]
        self.pause = Int64(pause * 1_000_000_000)
        database = try shared.directory.open(.machine, role: .share, now: Clock.system.now())
        nextRound = 0
    }

    /// Accepts the requests, ensures that they are sent, and waits for the responses.
    func run() throws {
        let account = try AccountTable(database).account(account, in: shared.directory)
        try DriverWait(shared, for: account).wait(until: check, next: { self.next })
    }

    /// When to check at the latest.
    private var next: Int64 { nextRound ?? deadline }

    /// Reports the finished requests of the round, and starts the next round when it is due; true once all rounds are finished.
    private func check() throws -> Bool {
        guard !isDone else { return true }
        let now = Clock.system.monotonic()
        if let nextRound {
            if now >= nextRound { try begin(at: now) }
            return false
        }
        let questions = try open.map { id in
            guard let question = try AdHocRequests(database).question(id) else {
                throw Failure(.badConfiguration, "the account is gone")
            }
            return question
        }
        guard now > deadline || questions.allSatisfy({ $0.outcome != nil }) else { return false }
        questions.forEach(report)
        isDone = rounds.isEmpty
        nextRound = now + pause
        return isDone
    }

    private func begin(at now: Int64) throws {
        nextRound = nil
        open = try rounds.removeFirst().map(accept)
        // The driver reports a timeout shortly afterwards.
        deadline = now + Int64(seconds + 5) * 1_000_000_000  // fits: a day of nanoseconds
    }

    private func accept(_ request: Element) throws -> Int64 {
        let account = try AccountTable(database).account(account, in: shared.directory)
        guard account.state == .active else { throw Failure(.badConfiguration, "\(account.jid) is logged out") }
        return try shared.directory.ringing {
            try AdHocRequests(database).ask(request, of: account, within: .seconds(seconds))
        }
    }
}
