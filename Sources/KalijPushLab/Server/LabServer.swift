import Glibc
import KalijTransport
import Synchronization

/// An HTTP/2 server with TLS on 127.0.0.1, in its own thread; a test writes the answers.
public final class LabServer: Sendable {
    /// The options of a server.
    public struct Options: Sendable {
        /// PEM files.
        public var certificate: String
        public var key: String
        /// The PEM file of the authority for client certificates; nil if clients need no certificate.
        public var clientAuthority: String?
        /// SETTINGS_MAX_CONCURRENT_STREAMS.
        public var streams: UInt32 = 100
        /// Bytes of requests' bodies that a client may send on a connection before they are read; 65,535 is the
        /// standard's.
        public var window: Int32 = 65_535
        /// What each connection begins with.
        public var opening = LabOpening.usual
        /// 0 takes a free port.
        public var port: UInt16 = 0

        public init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    public let port: UInt16
    private let waker: Waker
    private let thread: LabThread
    private let counts: Counts

    private final class Counts: Sendable {
        let connections = Atomic(0)
        let requests = Atomic(0)
    }

    /// Starts the server. `answer` is called in the server's thread.
    public init(_ options: Options, answer: @escaping @Sendable (LabRequest) -> LabReply) throws {
        signal(SIGPIPE, SIG_IGN)
        let started = Mutex<Result<(port: UInt16, waker: Waker), any Error>?>(nil)
        let ready = LabSignal()
        let counts = Counts()
        self.counts = counts
        let box = Box(started)
        thread = LabThread {
            do {
                let loop = try EventLoop()
                let tls = try LabTLS(
                    certificate: options.certificate, key: options.key, clientAuthority: options.clientAuthority)
                var peers: [Int: LabConnection] = [:]
                let listener = try LabListener(loop: loop, port: options.port) { descriptor in
                    let number = counts.connections.wrappingAdd(1, ordering: .relaxed).newValue
                    peers[number] = LabConnection(
                        loop: loop, descriptor: descriptor, tls: tls, number: number, streams: options.streams,
                        window: options.window, opening: options.opening,
                        answer: { request in
                            counts.requests.wrappingAdd(1, ordering: .relaxed)
                            return answer(request)
                        }, ended: { peers[number] = nil })
                }
                box.value.withLock { $0 = .success((listener.port, loop.waker)) }
                ready.ring()
                loop.run()
                listener.stop()
                for peer in peers.values { peer.hangUp() }
                peers = [:]
            } catch {
                box.value.withLock { $0 = .failure(error) }
                ready.ring()
            }
        }
        ready.wait()
        guard let result = box.value.withLock({ $0 }) else { throw LabError("the server did not start") }
        (port, waker) = try result.get()
    }

    /// Connections so far.
    public var connections: Int { counts.connections.load(ordering: .relaxed) }
    /// Requests so far.
    public var requests: Int { counts.requests.load(ordering: .relaxed) }

    /// Cuts all connections off and ends listening; returns afterwards.
    public func stop() {
        waker.stop()
        thread.join()
    }

    private final class Box: Sendable {
        let value: Mutex<Result<(port: UInt16, waker: Waker), any Error>?>
        init(_ value: consuming Mutex<Result<(port: UInt16, waker: Waker), any Error>?>) { self.value = value }
    }
}
