import KalijAddress
import KalijClient
import KalijText

/// Tracks the connections during a short time online, so that a command can report why something was not done.
final class Progress {
    /// The account whose connection counts; nil: all accounts.
    private let account: String?
    /// Whether the first failed attempt is the last: a command does not wait for seconds for a server that refuses the
    /// connection.
    private let endsUnreached: Bool
    private let onEvent: (EngineEvent) -> Void
    private var reached: Set<JID> = []
    /// Why accounts are not online, if they are not.
    private var problems: [JID: String] = [:]
    /// Whether the engine was stopped because the server cannot be reached.
    private(set) var isUnreachable = false
    /// Whether a signal has requested the end of this process.
    private var isInterrupted = false
    weak var engine: Engine?

    /// - Parameter told: receives each event.
    init(of account: String?, endsUnreached: Bool, told: @escaping (EngineEvent) -> Void = { _ in }) {
        self.account = account
        self.endsUnreached = endsUnreached
        self.onEvent = told
    }

    /// Why the server was not reached, or the connection was lost; nil while connected.
    var problem: String? { problems.sorted { $0.key < $1.key }.first?.value }

    /// A signal requests the end of this process: the engine stops in an orderly manner.
    func interrupt() {
        isInterrupted = true
        engine?.stop()
    }

    /// An interrupted process does not drive again, and does not wait for others.
    /// - Throws: `Failure`
    func checkInterruption() throws {
        if isInterrupted { throw Failure(.temporaryFailure, "interrupted; the next driving process goes on") }
    }

    func see(_ event: EngineEvent) {
        onEvent(event)
        guard account == nil || event.account.description == account else { return }
        switch event.content {
        case is Online:
            reached.insert(event.account)
            problems[event.account] = nil
        case let offline as Offline:
            problems[event.account] = offline.reason.description
            guard endsUnreached, !reached.contains(event.account) else { return }
            isUnreachable = true
            // Not while the engine processes an event.
            engine?.loop.enqueue { [weak engine] in engine?.stop() }
        case let refused as Refused: problems[event.account] = refused.reason.description
        default: break
        }
    }
}
