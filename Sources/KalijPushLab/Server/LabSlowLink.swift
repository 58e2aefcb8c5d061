import Glibc
import KalijTransport
import Synchronization

/// A TCP proxy on 127.0.0.1, in its own thread, that delivers every byte later: a line of any width and of a given
/// length.
public final class LabSlowLink: Sendable {
    public let port: UInt16
    private let waker: Waker
    private let thread: LabThread

    /// - Parameters:
    ///   - target: the port on 127.0.0.1 to connect to.
    ///   - delay: seconds that a byte takes in each direction, half a round trip.
    public init(to target: UInt16, delay: Double) throws {
        let started = Started()
        thread = LabThread {
            do {
                let loop = try EventLoop()
                var links: [Int: SlowConnection] = [:]
                var last = 0
                let listener = try LabListener(loop: loop, port: 0) { client in
                    guard let server = Self.connect(to: target) else {
                        close(client)
                        return
                    }
                    last += 1
                    let number = last
                    links[number] = SlowConnection(loop, client, server, delay) { links[number] = nil }
                }
                started.tell(.success((listener.port, loop.waker)))
                loop.run()
                listener.stop()
                for link in links.values { link.end() }
                links = [:]
            } catch {
                started.tell(.failure(error))
            }
        }
        (port, waker) = try started.wait()
    }

    /// Cuts all connections off and ends listening; returns afterwards.
    public func stop() {
        waker.stop()
        thread.join()
    }

    private static func connect(to port: UInt16) -> Int32? {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard server >= 0 else { return nil }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            // The C interface requires the generic form of a sockaddr_in, together with its size.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            close(server)
            return nil
        }
        var on: Int32 = 1
        setsockopt(server, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        _ = fcntl(server, F_SETFL, O_NONBLOCK)
        return server
    }

    /// How the thread's start ended.
    private final class Started: Sendable {
        private let result = Mutex<Result<(UInt16, Waker), any Error>?>(nil)
        private let signal = LabSignal()

        func tell(_ result: Result<(UInt16, Waker), any Error>) {
            self.result.withLock { $0 = result }
            signal.ring()
        }

        func wait() throws -> (UInt16, Waker) {
            signal.wait()
            guard let result = result.withLock({ $0 }) else { throw LabError("the link did not start") }
            return try result.get()
        }
    }
}
