import Glibc

/// Reaches a target: names, addresses, TCP, and TLS if the route begins with TLS; one route after the other.
final class Dialer {
    struct Reached {
        let channel: any Channel
        let endpoint: Endpoint
        /// The result of direct TLS.
        let info: TLSInfo?
        /// The failed attempts before.
        let attempts: [ConnectFailure.Attempt]
    }

    private let loop: EventLoop
    private let target: ConnectionTarget
    private let tls: TLSSettings
    private let context: TLSContext
    private let limits: ConnectionLimits
    private let resolver: Resolver
    private var finish: ((Result<Reached, ConnectFailure>) -> Void)?

    private var questions: [Resolver.Question] = []
    private var starttls: Route.Services?
    private var direct: Route.Services?
    private var routes: [Route] = []
    private var nameFailures: [NameFailure] = []
    private var race: Race?
    private var handshake: Handshake?
    private var attempts: [ConnectFailure.Attempt] = []

    /// `finish` is called once from the loop, unless ``cancel()`` comes first.
    init(
        loop: EventLoop, target: ConnectionTarget, tls: TLSSettings, context: TLSContext, limits: ConnectionLimits,
        resolver: Resolver, _ finish: @escaping (Result<Reached, ConnectFailure>) -> Void
    ) {
        self.loop = loop
        self.target = target
        self.tls = tls
        self.context = context
        self.limits = limits
        self.resolver = resolver
        self.finish = finish
    }

    deinit { cancel() }

    func start() {
        loop.enqueue { [weak self] in self?.findRoutes() }
    }

    /// Gives up, without a word.
    func cancel() {
        finish = nil
        for question in questions { question.cancel() }
        questions = []
        race?.cancel()
        handshake?.cancel()
    }

    private func end(_ result: Result<Reached, ConnectFailure>) {
        let finish = finish
        cancel()
        finish?(result)
    }

    // MARK: Routes

    private func findRoutes() {
        guard finish != nil else { return }
        if let override = target.override {
            routes = [Route(host: override.host, port: override.port, directTLS: target.directTLS == .only)]
            tryNextRoute()
        } else if SocketAddress.isLiteral(target.domain) {
            routes = [.fallback(target.domain, directTLS: target.directTLS == .only)]
            tryNextRoute()
        } else {
            askForServices()
        }
    }

    private func askForServices() {
        let asksStartTLS = target.directTLS != .only
        let asksDirect = target.directTLS != .never
        if asksStartTLS {
            ask("_xmpp-client._tcp.") { dialer, result in
                dialer.starttls = result
                if !asksDirect || dialer.direct != nil { dialer.plan() }
            }
        }
        if asksDirect {
            ask("_xmpps-client._tcp.") { dialer, result in
                dialer.direct = result
                if !asksStartTLS || dialer.starttls != nil { dialer.plan() }
            }
        }
    }

    private func ask(_ prefix: String, _ finish: @escaping (Dialer, Route.Services) -> Void) {
        let question = resolver.services(prefix + target.domain, limit: limits.names) { [weak self] result in
            if let self { finish(self, result) }
        }
        questions.append(question)
    }

    private func plan() {
        questions = []
        var generator = SystemRandomNumberGenerator()
        let plan = Route.plan(domain: target.domain, starttls: starttls, direct: direct, using: &generator)
        if plan.isEmpty { fail(target.domain, at: nil, nil, .noService, "says that it offers no such service") }
        routes = Array(plan.prefix(limits.alternatives))
        tryNextRoute()
    }

    private func fail(
        _ host: String, at address: SocketAddress?, _ port: UInt16?, _ kind: ConnectFailure.Kind,
        _ reason: String
    ) {
        attempts.append(.init(host: host, address: address?.text, port: port, kind: kind, reason: reason))
    }

    // MARK: A route

    private func tryNextRoute() {
        guard !routes.isEmpty else { return end(.failure(ConnectFailure(attempts))) }
        let route = routes.removeFirst()
        nameFailures = []
        let literal = SocketAddress(literal: route.host, port: route.port)
        let awaited: Set<Int32> = literal.map { [$0.family] } ?? [AF_INET6, AF_INET]
        let race = Race(loop: loop, limits: limits, awaited: awaited) { [weak self] winner in
            self?.raceEnded(route, winner)
        }
        self.race = race
        if let literal { return race.add([literal], of: literal.family) }
        questions = [AF_INET6, AF_INET].map { family in
            resolver.addresses(route.host, family, port: route.port, limit: limits.names) { [weak self] result in
                self?.addressesCame(result, family)
            }
        }
    }

    private func addressesCame(_ result: Result<[SocketAddress], NameFailure>, _ family: Int32) {
        switch result {
        case .success(let addresses): race?.add(addresses, of: family)
        case .failure(let failure):
            nameFailures.append(failure)
            race?.add([], of: family)
        }
    }

    private func raceEnded(_ route: Route, _ winner: Race.Winner?) {
        let losses = race?.losses ?? []
        race = nil
        for question in questions { question.cancel() }
        questions = []
        for loss in losses { fail(route.host, at: loss.address, route.port, .unreachable, loss.reason) }
        if let winner { return proceed(route, winner) }
        if losses.isEmpty {
            // "No answer" for one family says more than "no addresses" for the other.
            let failure = nameFailures.first { $0.kind == .noAnswer } ?? nameFailures.first ?? .noRecords
            fail(route.host, at: nil, nil, failure.kind, failure.reason)
        }
        tryNextRoute()
    }

    private func proceed(_ route: Route, _ winner: Race.Winner) {
        let socket = SocketIO(winner.descriptor)
        let endpoint = Endpoint(
            host: route.host, address: winner.address.text, port: route.port, directTLS: route.directTLS)
        guard route.directTLS else {
            let channel = PlainChannel(socket: socket)
            return end(.success(Reached(channel: channel, endpoint: endpoint, info: nil, attempts: attempts)))
        }
        do throws(TLSProblem) {
            let channel = try TLSChannel(
                socket: socket, context: context, serverName: tls.serverName, alpn: tls.alpn)
            handshake = Handshake(loop: loop, channel: channel, limit: limits.tls) { [weak self] result in
                self?.handshakeEnded(route, winner.address, channel, endpoint, result)
            }
        } catch {
            fail(route.host, at: winner.address, route.port, error.kind, error.reason)
            tryNextRoute()
        }
    }

    private func handshakeEnded(
        _ route: Route, _ address: SocketAddress, _ channel: TLSChannel, _ endpoint: Endpoint,
        _ result: Result<TLSInfo, TLSProblem>
    ) {
        handshake = nil
        switch result {
        case .success(let info):
            end(.success(Reached(channel: channel, endpoint: endpoint, info: info, attempts: attempts)))
        case .failure(let problem):
            fail(route.host, at: address, route.port, problem.kind, problem.reason)
            channel.socket.close()
            tryNextRoute()
        }
    }
}
