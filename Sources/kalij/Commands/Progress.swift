import KalijAddress
import KalijClient
import KalijText

/// What a command that goes online for a while hears of its way to the server, so that it can say why something was not done.
final class Progress {
    /// Whose connection counts; nil: every account's.
    private let account: String?
    /// Whether there is no second attempt: nobody waits for seconds for a server that refuses the connection.
    private let endsUnreached: Bool
    private let told: (EngineEvent) -> Void
    private var reached: Set<JID> = []
    /// Why accounts are not online, if they are not.
    private var problems: [JID: String] = [:]
    /// Whether it has ended the engine because the server cannot be reached.
    private(set) var isGivenUp = false
    weak var engine: Engine?

    /// - Parameter told: gets each event.
    init(of account: String?, endsUnreached: Bool, told: @escaping (EngineEvent) -> Void = { _ in }) {
        self.account = account
        self.endsUnreached = endsUnreached
        self.told = told
    }

    /// Why the server was not reached, or the connection is gone; nil if it is there.
    var problem: String? { problems.sorted { $0.key < $1.key }.first?.value }

    func see(_ event: EngineEvent) {
        told(event)
        guard account == nil || event.account.description == account else { return }
        switch event.content {
        case is Online:
            reached.insert(event.account)
            problems[event.account] = nil
        case let offline as Offline:
            problems[event.account] = offline.reason
            guard endsUnreached, !reached.contains(event.account) else { return }
            isGivenUp = true
            // Not from within what the engine is doing.
            engine?.loop.enqueue { [weak engine] in engine?.stop() }
        case let refused as Refused: problems[event.account] = refused.reason
        default: break
        }
    }
}
