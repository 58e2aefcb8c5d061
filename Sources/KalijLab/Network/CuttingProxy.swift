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
