import Dispatch
import Glibc
import Synchronization

/// A TCP proxy on 127.0.0.1 that cuts some of its connections after a random number of bytes.
public final class CuttingProxy: Sendable {
    private struct State {
        var counts = CutCounts()
        var isCutting = false
        var stopped = false
    }

    /// The port of the proxy.
    public let port: Int
    private let state = Mutex(State())
    private let listener: Int32

    /// Starts the proxy. No connection is cut before ``cut(_:)``.
    /// - Parameters:
    ///   - target: the port on 127.0.0.1 to connect to.
    ///   - share: the share of connections to cut; connections with an earlier end do not count.
    ///   - seed: decides which connections are cut, where and how.
    /// - Throws: ``LaboratoryError`` if the system refuses.
    public init(to target: Int, share: Double, seed: UInt64) throws {
        port = try freePort()
        listener = try listen(on: port)
        let thread = DispatchQueue(label: "cutting proxy")
        thread.async { [self] in
            var loop = ProxyLoop(listener: listener, target: target, generator: SeededGenerator(seed: seed))
            while true {
                let (isCutting, stopped) = state.withLock { ($0.isCutting, $0.stopped) }
                guard !stopped else { break }
                loop.share = isCutting ? share : 0
                for manner in loop.turn(milliseconds: 50) { state.withLock { $0.counts.count(manner) } }
            }
            loop.end()
        }
    }

    /// The connections cut so far.
    public var cuts: CutCounts { state.withLock { $0.counts } }

    /// Whether connections that begin from now on may be cut.
    public func cut(_ isCutting: Bool) {
        state.withLock { $0.isCutting = isCutting }
    }

    /// Ends all connections, within a moment.
    public func stop() {
        state.withLock { $0.stopped = true }
    }
}

/// A listening socket on 127.0.0.1.
private func listen(on port: Int) throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw LaboratoryError("cannot make a socket: \(lastSystemError())") }
    var yes: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    guard withLoopback(port, { bind(descriptor, $0, $1) }) == 0, Glibc.listen(descriptor, 128) == 0 else {
        let reason = lastSystemError()
        close(descriptor)
        throw LaboratoryError("cannot listen on port \(port): \(reason)")
    }
    return descriptor
}

/// Lends the address of a port on 127.0.0.1.
func withLoopback<Result>(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(truncatingIfNeeded: port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return withUnsafePointer(to: &address) { pointer in
        // The C interface wants the generic form of a sockaddr_in; the size goes along.
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
}
