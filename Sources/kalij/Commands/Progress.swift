import KalijAddress
import KalijClient
import KalijText

/// Follows the way to the server during a short time online, so that a command can say why something was not done.
final class Progress {
    /// The account whose connection counts; nil: every account's.
    private let account: String?
    /// Whether the first failed attempt is the last: nobody waits for seconds for a server that refuses the connection.
    private let endsUnreached: Bool
    private let told: (EngineEvent) -> Void
    private var reached: Set<JID> = []
    /// Why accounts are not online, if they are not.
    private var problems: [JID: String] = [:]
    /// Whether the engine was ended because the server cannot be reached.
    private(set) var isGivenUp = false
    /// Whether a signal has asked this process to end.
    private var isInterrupted = false
    weak var engine: Engine?

    /// - Parameter told: gets each event.
    init(of account: String?, endsUnreached: Bool, told: @escaping (EngineEvent) -> Void = { _ in }) {
        self.account = account
        self.endsUnreached = endsUnreached
        self.told = told
    }

    /// Why the server was not reached, or the connection is gone; nil while connected.
    var problem: String? { problems.sorted { $0.key < $1.key }.first?.value }

    /// A signal asks this process to end: the engine lets go in order.
    func interrupt() {
        isInterrupted = true
        engine?.stop()
    }

    /// A process that was asked to end does not drive again, and does not wait for others.
    /// - Throws: `Failure`
    func checkInterruption() throws {
        if isInterrupted { throw Failure(.tryAgain, "interrupted; the next driving process goes on") }
    }

    func see(_ event: EngineEvent) {
        told(event)
        guard account == nil || event.account.description == account else { return }
        switch event.content {
        case is Online:
            reached.insert(event.account)
            problems[event.account] = nil
        case let offline as Offline:
            problems[event.account] = offline.reason.description
            guard endsUnreached, !reached.contains(event.account) else { return }
            isGivenUp = true
            // Not from within the engine's work.
            engine?.loop.enqueue { [weak engine] in engine?.stop() }
        case let refused as Refused: problems[event.account] = refused.reason.description
        default: break
        }
    }
}
