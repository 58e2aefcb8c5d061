import Glibc

/// The proxy's connections, owned by its thread.
struct ProxyLoop {
    let listener: Int32
    let target: Int
    /// The share of new connections to cut.
    var share = 0.0
    var generator: SeededGenerator
    private var links: [ProxyLink] = []

    init(listener: Int32, target: Int, generator: SeededGenerator) {
        self.listener = listener
        self.target = target
        self.generator = generator
    }

    /// Waits for an event, and moves bytes.
    /// - Returns: the manner of each cut in this turn.
    mutating func turn(milliseconds: Int32) -> [CutManner] {
        var entries = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
        for link in links { entries += link.interests() }
        // fits: a few connections
        guard poll(&entries, nfds_t(entries.count), milliseconds) >= 0 else { return [] }
        var cuts: [CutManner] = []
        for index in links.indices {
            if let cut = links[index].move(entries[1 + 2 * index], entries[2 + 2 * index]) { cuts.append(cut) }
        }
        links.removeAll { $0.isOver }
        if entries[0].revents != 0 { accept() }
        return cuts
    }

    func end() {
        for link in links { link.closeBoth() }
        close(listener)
    }

    private mutating func accept() {
        guard let (client, server) = acceptConnection(at: listener, for: target) else { return }
        let isCut = Double.random(in: 0..<1, using: &generator) < share
        links.append(ProxyLink(client: client, server: server, plan: isCut ? plan() : nil))
    }

    /// Small numbers of bytes are as likely as large numbers: a login takes about five thousand.
    private mutating func plan() -> CutPlan {
        let bytes = Int(exp(Double.random(in: log(300.0)...log(60_000.0), using: &generator)))
        let manner = CutManner.allCases.randomElement(using: &generator) ?? .reset
        return CutPlan(bytes: bytes, manner: manner, seconds: Double.random(in: 0.2...3, using: &generator))
    }
}

/// Accepts a connection, and connects to the server behind the proxy.
/// - Returns: both sides; nil if one of them is closed.
func acceptConnection(
    at listener: Int32, for port: Int, address: LoopbackAddress = .usual
) -> (client: Int32, server: Int32)? {
    let client = accept(listener, nil, nil)
    guard client >= 0 else { return nil }
    // A program started in between inherits the descriptor; `shutdown` before `close` makes up for that.
    _ = fcntl(client, F_SETFD, FD_CLOEXEC)
    let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard server >= 0, withLoopback(port, address, { connect(server, $0, $1) }) == 0 else {
        close(client)
        if server >= 0 { close(server) }
        return nil
    }
    for descriptor in [client, server] {
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }
    return (client, server)
}
