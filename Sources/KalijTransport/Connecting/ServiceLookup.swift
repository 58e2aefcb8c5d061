/// Queries the DNS for the routes of a domain: both kinds of records at the same time.
final class ServiceLookup {
    private let target: ConnectionTarget
    private var finish: (([Route]) -> Void)?
    private var questions: [Resolver.Question] = []
    private var starttls: Route.Services?
    private var direct: Route.Services?

    /// `finish` is called once from the loop, unless ``cancel()`` is called first: with the routes in order, none if the domain
    /// does not offer the service. `limit` is in seconds.
    init(target: ConnectionTarget, resolver: Resolver, limit: Double, _ finish: @escaping ([Route]) -> Void) {
        self.target = target
        self.finish = finish
        func query(_ prefix: String, _ answered: @escaping (ServiceLookup, Route.Services) -> Void) {
            let question = resolver.services(prefix + target.domain, limit: limit) { [weak self] result in
                guard let self else { return }
                answered(self, result)
                plan()
            }
            questions.append(question)
        }
        if target.directTLS != .only { query("_xmpp-client._tcp.") { $0.starttls = $1 } }
        if target.directTLS != .never { query("_xmpps-client._tcp.") { $0.direct = $1 } }
    }

    /// Cancels the queries; `finish` is not called.
    func cancel() {
        finish = nil
        for question in questions { question.cancel() }
        questions = []
    }

    private func plan() {
        guard target.directTLS == .only || starttls != nil, target.directTLS == .never || direct != nil else { return }
        var generator = SystemRandomNumberGenerator()
        let routes = Route.plan(domain: target.domain, starttls: starttls, direct: direct, using: &generator)
        let finish = finish
        cancel()
        finish?(routes)
    }
}
