import KalijCore
import KalijStream
import KalijTransport

/// Invalidates an account's token at the server with one more login (XEP-0484 section 3.6), so that an old copy of the database
/// cannot be used to log in with it.
package final class TokenRevocation {
    private let line: ClientStream
    private let known: (Endpoint) -> KnownServer
    private var finished: (() -> Void)?
    private var deadline: Timer?

    /// Nil without a token.
    package init?(_ account: Account, _ approach: ConnectionPlan, _ context: DriverContext) {
        guard !approach.tokens.isEmpty else { return nil }
        var configuration = Negotiation.Configuration(
            account, account.credentials, approach, now: context.runner.now)
        (configuration.invalidatesToken, configuration.requestsToken) = (true, false)
        line = ClientStream(configuration, on: context.loop)
        let steps = LoginSteps(runner: context.runner, account: account)
        known = { endpoint in (try? steps.server(at: endpoint)) ?? KnownServer() }
    }

    /// - Parameters:
    ///   - seconds: the timeout for the login.
    ///   - finished: called on the loop at the end, whatever the outcome.
    package func run(
        _ account: Account, _ approach: ConnectionPlan, _ context: DriverContext, within seconds: Double,
        _ finished: @escaping () -> Void
    ) {
        // Keeps this object alive until the end.
        self.finished = {
            withExtendedLifetime(self) {}
            finished()
        }
        deadline = context.loop.schedule(after: seconds) { [weak self] in self?.end() }
        line.onEvent = { [weak self] in self?.handle($0) }
        let (target, tls) = account.destination(approach)
        line.open { context.connect(target, tls, $0) }
    }

    private func handle(_ event: ClientStream.Event) {
        do {
            switch event {
            case .connected(let endpoint, let tls):
                try negotiate(.connected(secured: tls.map(ChannelBindings.init), known: known(endpoint)))
            case .secured(let tls): try negotiate(.secured(ChannelBindings(tls)))
            case .arrived:
                while finished != nil, let event = line.inbox.first {
                    try negotiate(Negotiation.Event(event))
                    line.inbox.removeFirst()
                }
                if line.inbox.error != nil { end() }
            case .ticket, .drained: break
            case .failed, .closed: end()
            }
        } catch { end() }
    }

    private func negotiate(_ event: Negotiation.Event) throws {
        try line.negotiate(event) { action in
            switch action {
            case .plan: try negotiate(.planned(SessionPlan()))
            // Without the token there is nothing to invalidate.
            case .authenticated, .tokenRefused: end()
            default: break
            }
        }
    }

    private func end() {
        guard let finished else { return }
        self.finished = nil
        deadline?.cancel()
        line.send(StreamManagement.end)
        line.close { _ in finished() }
    }
}
