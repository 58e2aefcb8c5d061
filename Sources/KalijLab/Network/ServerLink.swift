import Dispatch
import Glibc
import Synchronization

/// The path from one server to another: a TCP proxy on a loopback address of its own.
public final class ServerLink: Sendable {
    /// The treatment of the bytes.
    public enum Mode: Sendable {
        /// They get through.
        case open
        /// They are read and discarded; both servers consider their connections alive.
        case swallowing
        /// Connections were reset, and new ones are refused.
        case cut
    }

    private struct State {
        var mode = Mode.open
        var done = Mode.open
        var swallowed = 0
        var connections = 0
        var stopped = false
    }

    /// The port for other servers (RFC 6120 section 14.7).
    static let port = 5269
    private let state = Mutex(State())
    private let address: LoopbackAddress
    private let target: LoopbackAddress

    /// Starts the proxy, open.
    /// - Throws: ``LaboratoryError`` if the address is taken.
    init(at address: LoopbackAddress, to target: LoopbackAddress) throws {
        (self.address, self.target) = (address, target)
        let listener = try listen(on: Self.port, address)
        let thread = DispatchQueue(label: "link to \(target)")
        thread.async { [self] in run(listener) }
    }

    /// How many connections there were, and how many bytes were discarded.
    public var counts: (connections: Int, swallowed: Int) { state.withLock { ($0.connections, $0.swallowed) } }

    /// Changes the mode; returns when that is done. The connections that lost bytes are reset: what is
    /// left of them makes no sense to TLS.
    /// - Throws: ``LaboratoryError`` if the proxy does not get its port back.
    public func set(_ mode: Mode) async throws {
        state.withLock { $0.mode = mode }
        let deadline = ContinuousClock.now + .seconds(hungAfter)
        while state.withLock({ $0.done != mode }) {
            guard ContinuousClock.now < deadline else {
                throw LaboratoryError("the link at \(address) is not \(mode) after \(hungAfter) s")
            }
            try await sleep(for: .milliseconds(10))
        }
    }

    /// Ends all connections, within a moment.
    func stop() {
        state.withLock { $0.stopped = true }
    }

    private func run(_ first: Int32) {
        var listener: Int32? = first
        var links: [ProxyLink] = []
        var mode = Mode.open
        while true {
            let (wanted, stopped) = state.withLock { ($0.mode, $0.stopped) }
            guard !stopped else { break }
            if wanted != mode || (wanted != .cut && listener == nil) {
                mode = wanted
                change(to: mode, &listener, &links)
            }
            turn(listener, mode, &links)
        }
        for link in links { link.closeBoth() }
        if let listener { close(listener) }
    }

    private func change(to mode: Mode, _ listener: inout Int32?, _ links: inout [ProxyLink]) {
        for index in links.indices {
            if mode == .cut || (mode == .open && links[index].swallowed > 0) { links[index].reset() }
            links[index].swallows = mode == .swallowing
        }
        links.removeAll { $0.isOver }
        if mode == .cut {
            if let open = listener { close(open) }
            listener = nil
        } else if listener == nil {
            listener = try? listen(on: Self.port, address)
        }
        if mode == .cut || listener != nil { state.withLock { $0.done = mode } }
    }

    /// Waits a moment for bytes, and moves them.
    private func turn(_ listener: Int32?, _ mode: Mode, _ links: inout [ProxyLink]) {
        var entries = [pollfd(fd: listener ?? -1, events: Int16(POLLIN), revents: 0)]
        for link in links { entries += link.interests() }
        // fits: a few connections
        guard poll(&entries, nfds_t(entries.count), 20) >= 0 else { return }
        var swallowed = 0
        for index in links.indices {
            let before = links[index].swallowed
            _ = links[index].move(entries[1 + 2 * index], entries[2 + 2 * index])
            swallowed += links[index].swallowed - before
        }
        links.removeAll { $0.isOver }
        var connections = 0
        if let listener, entries[0].revents != 0,
            let (client, server) = acceptConnection(at: listener, for: Self.port, address: target)
        {
            var link = ProxyLink(client: client, server: server, plan: nil)
            link.swallows = mode == .swallowing
            links.append(link)
            connections = 1
        }
        state.withLock {
            $0.swallowed += swallowed
            $0.connections += connections
        }
    }
}
