import CCares
import Glibc
import KalijText

/// Queries the DNS on an ``EventLoop``, without blocking the loop.
///
/// There are sockets and timers only while a query is pending.
public final class Resolver {
    private let loop: EventLoop
    private let servers: String?
    private var channel: ares_channel?
    private var watches: [Int32: Watch] = [:]
    private var timer: Timer?
    private var open: [ObjectIdentifier: Question] = [:]
    private var willClose = false

    /// - Parameters:
    ///   - loop: the thread foreverything.
    ///   - servers: addresses with ports to query instead of the system's servers, separated by commas, for example
    ///     `127.0.0.1:5300`; if nil, the environment variable `KALIJ_DNS_SERVERS` is used if set.
    public init(loop: EventLoop, servers: String? = nil) {
        self.loop = loop
        self.servers = servers ?? EnvironmentVariable.value("KALIJ_DNS_SERVERS")
    }

    deinit { destroyChannel() }

    /// A pending query. `cancel()` drops the query: no answer follows.
    final class Question {
        fileprivate weak var resolver: Resolver?
        fileprivate var deadline: Timer?
        fileprivate var finish: ((_ result: Result<Answer, DNSError>) -> Void)?

        func cancel() {
            finish = nil
            deadline?.cancel()
            resolver?.forget(self)
        }

        fileprivate func answer(_ result: Result<Answer, DNSError>) {
            guard let finish else { return }
            cancel()
            finish(result)
        }
    }

    enum Answer {
        case services([ServiceRecord])
        case addresses([SocketAddress])
    }

    /// Queries the SRV records of a name like `_xmpp-client._tcp.example.org`; `limit` is in seconds. `finish` is called from the
    /// loop, never from within this call.
    func services(
        _ name: String, limit: Double, _ finish: @escaping (Result<[ServiceRecord], DNSError>) -> Void
    ) -> Question {
        query(limit) { result in
            finish(result.map { if case .services(let records) = $0 { records } else { [] } })
        } send: { channel, argument in
            ares_query(channel, name, internetClass, serviceType, serviceCallback, argument)
        }
    }

    /// Queries the addresses of one family (`AF_INET`, `AF_INET6`) of a host; hosts files are read first.
    func addresses(
        _ host: String, _ family: Int32, port: UInt16, limit: Double,
        _ finish: @escaping (Result<[SocketAddress], DNSError>) -> Void
    ) -> Question {
        query(limit) { result in
            finish(result.map { if case .addresses(let addresses) = $0 { addresses } else { [] } })
        } send: { channel, argument in
            var hints = ares_addrinfo_hints()
            hints.ai_family = family
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
            hints.ai_flags = Int32(ARES_AI_NUMERICSERV)
            ares_getaddrinfo(channel, host, String(port), &hints, addressCallback, argument)
        }
    }

    private func query(
        _ limit: Double, _ finish: @escaping (Result<Answer, DNSError>) -> Void,
        send: (ares_channel, UnsafeMutableRawPointer) -> Void
    ) -> Question {
        let question = Question()
        question.resolver = self
        question.finish = finish
        open[ObjectIdentifier(question)] = question
        guard let channel = openChannel() else {
            loop.enqueue { question.answer(.failure(.noAnswer("the DNS cannot be asked (bad server list?)"))) }
            return question
        }
        question.deadline = loop.schedule(after: limit) { [weak question] in
            question?.answer(.failure(.noAnswer("no answer from the DNS")))
        }
        // c-ares calls back exactly once for each query, at the latest when the channel is destroyed.
        send(channel, Unmanaged.passRetained(question).toOpaque())
        setTimer()
        return question
    }

    private func forget(_ question: Question) {
        open[ObjectIdentifier(question)] = nil
        guard open.isEmpty, channel != nil, !willClose else { return }
        // Not at once: c-ares may be on the stack.
        willClose = true
        loop.enqueue { [weak self] in
            guard let self else { return }
            willClose = false
            if open.isEmpty { destroyChannel() }
        }
    }

    /// From a callback of c-ares: the answer is given in the next turn, when c-ares is no longer on the stack.
    fileprivate static func deliver(_ argument: UnsafeMutableRawPointer?, _ result: Result<Answer, DNSError>) {
        guard let argument else { return }
        // Retained for this call when the query was sent.
        let question = Unmanaged<Question>.fromOpaque(argument).takeRetainedValue()
        question.resolver?.loop.enqueue { question.answer(result) }
    }
}

// MARK: c-ares

extension Resolver {
    private func openChannel() -> ares_channel? {
        if let channel { return channel }
        guard Self.library == ARES_SUCCESS else { return nil }
        var options = ares_options()
        // Domains are complete names. With the search list the hosts of other domains could be queried.
        options.flags = ARES_FLAG_NOSEARCH
        options.timeout = 2500
        options.tries = 3
        options.sock_state_cb = { resolver, descriptor, readable, writable in
            // The channel does not outlive the resolver, its argument.
            guard let resolver else { return }
            Unmanaged<Resolver>.fromOpaque(resolver).takeUnretainedValue()
                .watch(descriptor, readable: readable != 0, writable: writable != 0)
        }
        // lives: the channel is destroyed in the resolver's deinit
        options.sock_state_cb_data = Unmanaged.passUnretained(self).toOpaque()
        let mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB
        var made: ares_channel?
        guard ares_init_options(&made, &options, mask) == ARES_SUCCESS, let made else { return nil }
        if let servers, ares_set_servers_ports_csv(made, servers) != ARES_SUCCESS {
            ares_destroy(made)
            return nil
        }
        channel = made
        return made
    }

    private static let library = ares_library_init(Int32(ARES_LIB_INIT_ALL))

    private func destroyChannel() {
        if let channel { ares_destroy(channel) }
        channel = nil
        for watch in watches.values { watch.cancel() }
        watches = [:]
        timer?.cancel()
        timer = nil
    }

    private func watch(_ descriptor: Int32, readable: Bool, writable: Bool) {
        let interest: Interest = (readable ? .read : Interest()).union(writable ? .write : Interest())
        if let watch = watches[descriptor] {
            watch.interest = interest
            if interest.isEmpty {
                watch.cancel()
                watches[descriptor] = nil
            }
        } else if !interest.isEmpty {
            // If watching fails, the query ends at its deadline.
            watches[descriptor] = try? loop.watch(descriptor, interest) { [weak self] readiness in
                let readable = !readiness.isDisjoint(with: [.readable, .hangup])
                self?.process(readable ? descriptor : noSocket, readiness.contains(.writable) ? descriptor : noSocket)
            }
        }
    }

    private func process(_ readable: Int32, _ writable: Int32) {
        guard let channel else { return }
        ares_process_fd(channel, readable, writable)
        setTimer()
    }

    /// For c-ares to notice when a server does not answer.
    private func setTimer() {
        timer?.cancel()
        timer = nil
        var time = timeval()
        guard let channel, ares_timeout(channel, nil, &time) != nil else { return }
        let seconds = Double(time.tv_sec) + Double(time.tv_usec) / 1e6
        timer = loop.schedule(after: seconds) { [weak self] in self?.process(noSocket, noSocket) }
    }
}

private let noSocket: Int32 = -1
// RFC 1035 3.2.4, RFC 2782.
private let internetClass: Int32 = 1
private let serviceType: Int32 = 33

private let serviceCallback: ares_callback = { argument, status, _, bytes, count in
    guard status == ARES_SUCCESS else {
        Resolver.deliver(argument, .failure(DNSError(status: status)))
        return
    }
    var first: UnsafeMutablePointer<ares_srv_reply>?
    let parsed = ares_parse_srv_reply(bytes, count, &first)
    defer { if let first { ares_free_data(first) } }
    guard parsed == ARES_SUCCESS else {
        Resolver.deliver(argument, .failure(DNSError(status: parsed)))
        return
    }
    var records: [ServiceRecord] = []
    var next = first
    while let reply = next?.pointee {
        records.append(
            ServiceRecord(
                host: String(cString: reply.host), port: reply.port, priority: reply.priority, weight: reply.weight))
        next = reply.next
    }
    Resolver.deliver(argument, .success(.services(records)))
}

private let addressCallback: ares_addrinfo_callback = { argument, status, _, result in
    defer { if let result { ares_freeaddrinfo(result) } }
    guard status == ARES_SUCCESS else {
        Resolver.deliver(argument, .failure(DNSError(status: status)))
        return
    }
    var addresses: [SocketAddress] = []
    var next = result?.pointee.nodes
    while let node = next?.pointee {
        if let address = node.ai_addr, let made = SocketAddress(taking: address) { addresses.append(made) }
        next = node.ai_next
    }
    Resolver.deliver(argument, .success(.addresses(addresses)))
}
