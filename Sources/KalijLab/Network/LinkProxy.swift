import Dispatch
import Glibc
import Synchronization

/// A TCP proxy on 127.0.0.1 whose line can be slow or silent.
///
/// A silent line loses its packets: no end is noticed, and what was sent arrives once the line works again, as TCP retransmits
/// what was not acknowledged.
public final class LinkProxy: Sendable {
    private struct State {
        var isSilent = false
        var delay = 0.0
        var isStopped = false
    }

    /// The port of the proxy.
    public let port: Int
    private let state = Mutex(State())

    /// - Parameter target: the port on 127.0.0.1 to connect to.
    /// - Throws: ``LaboratoryError`` if the system refuses.
    public init(to target: Int) throws {
        port = try freePort()
        let listener = try listen(on: port)
        // A thread of its own, which ends with this object.
        DispatchQueue(label: "link proxy").async { [weak self] in
            var loop = LinkLoop(listener: listener, target: target)
            while let state = self?.state.withLock({ $0 }), !state.isStopped {
                guard !state.isSilent else {
                    // A silent line has no events that matter.
                    usleep(20_000)
                    continue
                }
                loop.turn(delay: state.delay)
            }
            loop.end()
        }
    }

    /// Whether nothing gets through, in any direction.
    public func silence(_ isSilent: Bool) { state.withLock { $0.isSilent = isSilent } }

    /// Each way takes so many seconds longer from now on.
    public func delay(seconds: Double) { state.withLock { $0.delay = seconds } }

    /// Ends all connections, within a moment.
    public func stop() { state.withLock { $0.isStopped = true } }
}

/// The connections of a ``LinkProxy``, owned by its thread.
private struct LinkLoop {
    let listener: Int32
    let target: Int
    private var ways: [LinkWay] = []

    init(listener: Int32, target: Int) {
        self.listener = listener
        self.target = target
    }

    mutating func turn(delay: Double) {
        var entries = ways.map { pollfd(fd: $0.from, events: Int16(POLLIN), revents: 0) }
        entries.append(pollfd(fd: listener, events: Int16(POLLIN), revents: 0))
        let isWaiting = ways.contains { !$0.waiting.isEmpty }
        // fits: a few connections
        guard poll(&entries, nfds_t(entries.count), isWaiting ? 1 : 20) >= 0 else { return }
        let now = wallClock()
        for index in ways.indices {
            if entries[index].revents != 0 { ways[index].read(due: now + delay) }
            ways[index].write(now)
        }
        close()
        if entries.last?.revents != 0 { accept() }
    }

    mutating func end() {
        for index in ways.indices { ways[index].isOver = true }
        close()
        Glibc.close(listener)
    }

    private mutating func accept() {
        guard let (client, server) = acceptConnection(at: listener, for: target) else { return }
        ways.append(LinkWay(from: client, to: server))
        ways.append(LinkWay(from: server, to: client))
    }

    /// The end of one way is the end of the other; both are side by side.
    private mutating func close() {
        for index in stride(from: ways.count - 2, through: 0, by: -2)
        where ways[index...index + 1].contains(where: \.isOver) {
            shutdown(ways[index].from, Int32(SHUT_RDWR))
            shutdown(ways[index].to, Int32(SHUT_RDWR))
            Glibc.close(ways[index].from)
            Glibc.close(ways[index].to)
            ways.removeSubrange(index...index + 1)
        }
    }
}

/// The bytes from one descriptor to another.
private struct LinkWay {
    let from: Int32
    let to: Int32
    var waiting: [(due: Double, bytes: ArraySlice<UInt8>)] = []
    var isOver = false

    mutating func read(due: Double) {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = Glibc.read(from, &bytes, bytes.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { return isOver = true }
        waiting.append((due, bytes[..<count]))
    }

    mutating func write(_ now: Double) {
        while let first = waiting.first, first.due <= now, !isOver {
            let count = first.bytes.withUnsafeBytes { send(to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0 {
                if errno != EAGAIN, errno != EINTR { isOver = true }
                return
            }
            if count == first.bytes.count {
                waiting.removeFirst()
            } else {
                waiting[0].bytes = first.bytes.dropFirst(count)
            }
        }
    }
}
