import Glibc

/// Reaches a target: names, addresses, TCP, and TLS if the route begins with TLS; one route after the other. The address
/// that worked last does not wait for the names: the addresses of the first route join its race.
final class Dialer {
    struct Reached {
        let channel: any Channel
        let endpoint: Endpoint
        /// The result of direct TLS.
        let info: TLSInfo?
        /// The failed attempts before.
        let attempts: [ConnectFailure.Attempt]
    }

    /// The current route, and the DNS answers for its host.
    private struct Turn {
        let route: Route
        var questions: [Resolver.Question] = []
        var hasAddresses = false
        var failures: [DNSError] = []
    }

    private let loop: EventLoop
    private let target: ConnectionTarget
    private let tls: TLSSettings
    private let context: TLSContext
    private let limits: ConnectionLimits
    private let resolver: Resolver
    private var finish: ((Result<Reached, ConnectFailure>) -> Void)?

    /// Until another address has won its race.
    private var remembered: (route: Route, address: SocketAddress)?

    private var services: ServiceLookup?
    /// The remaining routes; nil while the DNS is queried for them.
    private var routes: [Route]?

    private var turn: Turn?
    private var race: HappyEyeballs?
    private var handshake: Handshake?
    private var attempts: [ConnectFailure.Attempt] = []

    /// `finish` is called once from the loop, unless ``cancel()`` is called first.
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
        remembered = target.rememberedRoute
    }

    deinit { cancel() }

    func start() {
        loop.enqueue { [weak self] in self?.findRoutes() }
    }

    /// Cancels the attempt; `finish` is not called.
    func cancel() {
        finish = nil
        services?.cancel()
        endQuestions()
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
        if let remembered { beginRace().begin(with: remembered.address) }
        if let route = target.overridden {
            apply([route])
        } else if SocketAddress.isLiteral(target.domain) {
            apply([.fallback(target.domain, directTLS: target.directTLS == .only)])
        } else {
            services = ServiceLookup(target: target, resolver: resolver, limit: limits.names) { [weak self] in
                self?.planned($0)
            }
        }
    }

    /// The remembered address may already be connected: then the routes are for the case that its handshake fails.
    private func apply(_ routes: [Route]) {
        self.routes = routes
        if handshake == nil { tryNextRoute() }
    }

    private func planned(_ plan: [Route]) {
        if plan.isEmpty { fail(target.domain, at: nil, .noService, "says that it offers no such service") }
        apply(Array(plan.prefix(limits.alternatives)))
    }

    private func fail(
        _ host: String, at address: SocketAddress?, _ kind: ConnectFailure.Kind, _ reason: String,
        certificate: [UInt8]? = nil
    ) {
        attempts.append(
            .init(
                host: host, address: address?.text, port: address?.port, kind: kind, reason: reason,
                certificate: certificate))
    }

    // MARK: A route

    private func tryNextRoute() {
        guard var left = routes else { return }  // the DNS's answer will continue
        guard !left.isEmpty else { return end(.failure(ConnectFailure(attempts))) }
        let route = left.removeFirst()
        routes = left
        turn = Turn(route: route)
        let race = race ?? beginRace()
        if let literal = SocketAddress(literal: route.host, port: route.port) {
            race.add([], of: literal.family == AF_INET ? AF_INET6 : AF_INET)
            return addressesReceived(.success([literal]), literal.family)
        }
        turn?.questions = [AF_INET6, AF_INET].map { family in
            resolver.addresses(route.host, family, port: route.port, limit: limits.names) { [weak self] result in
                self?.addressesReceived(result, family)
            }
        }
    }

    private func beginRace() -> HappyEyeballs {
        let race = HappyEyeballs(
            loop: loop, limits: limits, allowed: target.addresses, awaited: [AF_INET6, AF_INET]
        ) { [weak self] in self?.raceEnded($0) }
        self.race = race
        return race
    }

    private func addressesReceived(_ result: Result<[SocketAddress], DNSError>, _ family: Int32) {
        switch result {
        case .success(let addresses):
            if !addresses.isEmpty { turn?.hasAddresses = true }
            race?.add(addresses.filter { !isRemembered($0) }, of: family)
        case .failure(let failure):
            turn?.failures.append(failure)
            race?.add([], of: family)
        }
    }

    /// An address is tried once, unless the kind of TLS is another.
    private func isRemembered(_ address: SocketAddress) -> Bool {
        guard let remembered else { return false }
        return remembered.address == address && remembered.route.directTLS == turn?.route.directTLS
    }

    private func endQuestions() {
        for question in turn?.questions ?? [] { question.cancel() }
        turn?.questions = []
    }

    private func raceEnded(_ winner: HappyEyeballs.Winner?) {
        let losses = race?.losses ?? []
        race = nil
        endQuestions()
        for loss in losses {
            if let route = loss.isRemembered ? remembered?.route : turn?.route {
                fail(route.host, at: loss.address, .unreachable, loss.reason)
            }
        }
        if let winner, winner.isRemembered, let remembered {
            // The route has not been tried yet.
            if let route = turn?.route { routes?.insert(route, at: 0) }
            return proceed(remembered.route, winner)
        }
        guard let turn else { return }
        if let winner {
            if !losses.contains(where: \.isRemembered) { remembered = nil }
            return proceed(turn.route, winner)
        }
        if !turn.hasAddresses {
            // "No answer" for one family is more specific than "no addresses" for the other.
            let failure = turn.failures.first { $0.kind == .noAnswer } ?? turn.failures.first ?? .noRecords
            fail(turn.route.host, at: nil, failure.kind, failure.reason)
        }
        tryNextRoute()
    }

    private func proceed(_ route: Route, _ winner: HappyEyeballs.Winner) {
        let socket = SocketIO(winner.descriptor, connectTime: winner.seconds)
        let endpoint = Endpoint(
            host: route.host, address: winner.address.text, port: route.port, directTLS: route.directTLS)
        guard route.directTLS else {
            let channel = PlainChannel(socket: socket)
            return end(.success(Reached(channel: channel, endpoint: endpoint, info: nil, attempts: attempts)))
        }
        do throws(TLSProblem) {
            let channel = try TLSChannel(socket: socket, context: context, settings: tls, isDirect: true)
            handshake = Handshake(loop: loop, channel: channel, limits: limits) { [weak self] result in
                self?.handshakeEnded(route, winner.address, channel, endpoint, result)
            }
        } catch {
            fail(route.host, at: winner.address, error.kind, error.reason)
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
            fail(route.host, at: address, problem.kind, problem.reason, certificate: problem.certificate)
            channel.socket.close()
            tryNextRoute()
        }
    }
}
