import Glibc
import KalijAddress
import KalijClient
import KalijCoordination
import KalijTransport

/// Ensures that an accepted message is sent, and determines the result.
final class MessageSender {
    private let shared: SharedOptions
    private let account: Account
    /// The accepted message, in its latest state.
    private(set) var message: Message
    /// Why the message is not sent yet.
    private(set) var failure: Failure?
    private var settledAt: Int64?
    private var timer: Timer?
    private weak var engine: Engine?

    /// How many nanoseconds to wait for an error after the server has accepted a message: ejabberd looks up the recipient
    /// afterwards, and a remote server has to be connected first.
    private static let (ownServerTimeout, otherServerTimeout): (Int64, Int64) = (200_000_000, 1_000_000_000)

    init(_ message: Message, of account: Account, _ shared: SharedOptions) {
        self.shared = shared
        self.account = account
        self.message = message
    }

    /// Drives, if no other process does, until the message is sent and was not refused at once.
    /// - Parameter confirming: whether to wait for another driver, too.
    func run(confirming: Bool) throws {
        let progress = Progress(of: account.jid.description, endsUnreached: true) { [weak self] in self?.see($0) }
        let outcome = BackgroundSender.send(shared, progress) { [weak self, weak progress] in
            self?.engine = progress?.engine
            return self?.mayEnd ?? true
        }
        timer?.cancel()
        switch outcome {
        case .handedOver:
            guard confirming else { return }
            try awaitOther()
        case .failed(let failure): self.failure = failure
        case .driven: failure = progress.problem.map { Failure(.unavailable, $0) }
        }
        if let current = try current() { message = current }
        if message.state?.isWithServer ?? false { failure = nil }
    }

    private func current() throws -> Message? {
        guard let id = message.originID else { return nil }
        return try HistoryReader(shared.directory).sent(id, by: account)
    }

    private func awaitOther() throws {
        let deadline = Clock.system.monotonic() + Int64(BackgroundSender.budget) * 1_000_000_000
        let isOver = {
            try self.isFinal(self.current()?.state) || Clock.system.monotonic() >= deadline
        }
        try WaitForDriver(directory: shared.directory).wait(until: isOver, next: { deadline }) {
            _ = BackgroundSender.send(shared, Progress(of: account.jid.description, endsUnreached: false))
        }
        failure = Failure(
            .temporaryFailure, "the driving process has not sent the message within \(Int(BackgroundSender.budget)) s")
    }

    private func isFinal(_ state: MessageState?) -> Bool { state == .failed || state?.isWithServer ?? false }

    private func see(_ event: EngineEvent) {
        guard let message = (event.content as? MessageStateChanged)?.message, message.originID == self.message.originID
        else { return }
        self.message = message
        if message.state?.isWithServer ?? false { settledAt = settledAt ?? Clock.system.monotonic() }
    }

    /// Whether no further event is expected.
    private var mayEnd: Bool {
        guard message.state?.isWithServer ?? false, let settledAt else { return true }
        let patience = isForOwnServer ? Self.ownServerTimeout : Self.otherServerTimeout
        let left = settledAt + patience - Clock.system.monotonic()
        guard left > 0 else { return true }
        timer =
            timer ?? engine?.loop.schedule(after: Double(left) / 1_000_000_000) { [weak self] in self?.engine?.stop() }
        return false
    }

    private var isForOwnServer: Bool { JID.received(message.to).domain == account.jid.domain }
}
