import Glibc
import KalijAddress
import KalijClient
import KalijRoles
import KalijTransport

/// Sees that a message that was accepted is sent, and finds out what becomes of it.
final class Sending {
    private let shared: SharedOptions
    private let account: Account
    /// As it was accepted, and then as it is.
    private(set) var message: Message
    /// Why it is not sent yet.
    private(set) var failure: Failure?
    private var settledAt: Int64?
    private var timer: Timer?
    private weak var engine: Engine?

    /// Nanoseconds after the server has taken a message, in which an error may come: ejabberd looks for the recipient after it
    /// has said that it has the message, and another server has to be found first.
    private static let (patience, patienceWithOthers): (Int64, Int64) = (200_000_000, 1_000_000_000)

    init(_ message: Message, of account: Account, _ shared: SharedOptions) {
        self.shared = shared
        self.account = account
        self.message = message
    }

    /// Drives until it is sent and was not refused at once, if no other process drives.
    /// - Parameter confirming: whether another process that drives is waited for, too.
    func run(confirming: Bool) throws {
        let progress = Progress(of: account.jid.description, endsUnreached: true) { [weak self] in self?.see($0) }
        let outcome = Background.send(shared, progress) { [weak self, weak progress] in
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
        if message.state == .acked { failure = nil }
    }

    private func current() throws -> Message? {
        guard let id = message.originID else { return nil }
        return try HistoryReader(shared.directory).sent(id, by: account)
    }

    private func awaitOther() throws {
        let deadline = Clock.system.monotonic() + Int64(Background.budget) * 1_000_000_000
        let isOver = {
            [.acked, .failed].contains(try self.current()?.state) || Clock.system.monotonic() >= deadline
        }
        try Waiting(directory: shared.directory).wait(until: isOver, next: { deadline }) {
            _ = Background.send(shared, Progress(of: account.jid.description, endsUnreached: false))
        }
        failure = Failure(.tryAgain, "the process that drives has not sent it within \(Int(Background.budget)) s")
    }

    private func see(_ event: EngineEvent) {
        guard let message = (event.content as? MessageStateChanged)?.message, message.originID == self.message.originID
        else { return }
        self.message = message
        if message.state == .acked { settledAt = settledAt ?? Clock.system.monotonic() }
    }

    /// Whether nothing more is to be expected.
    private var mayEnd: Bool {
        guard message.state == .acked, let settledAt else { return true }
        let patience = isForOwnServer ? Self.patience : Self.patienceWithOthers
        let left = settledAt + patience - Clock.system.monotonic()
        guard left > 0 else { return true }
        timer =
            timer ?? engine?.loop.schedule(after: Double(left) / 1_000_000_000) { [weak self] in self?.engine?.stop() }
        return false
    }

    private var isForOwnServer: Bool { JID.received(message.to).domain == account.jid.domain }
}
