import Glibc
import KalijTransport

/// A socket on 127.0.0.1 that delivers new connections.
final class LabListener {
    let port: UInt16
    private let descriptor: Int32
    private var watch: Watch?

    init(loop: EventLoop, port: UInt16, _ accepted: @escaping (Int32) -> Void) throws {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_INET, type, 0)
        guard descriptor >= 0 else { throw SystemError("socket") }
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            // The C interface requires the generic form of a sockaddr_in, together with its size.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && listen(descriptor, 64) == 0
                    && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard bound else {
            close(descriptor)
            throw SystemError("bind")
        }
        self.descriptor = descriptor
        self.port = UInt16(bigEndian: address.sin_port)
        watch = try loop.watch(descriptor, .read) { _ in
            while case let peer = accept(descriptor, nil, nil), peer >= 0 {
                _ = fcntl(peer, F_SETFD, FD_CLOEXEC)
                _ = fcntl(peer, F_SETFL, O_NONBLOCK)
                var on: Int32 = 1
                setsockopt(peer, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
                accepted(peer)
            }
        }
    }

    func stop() {
        guard watch != nil else { return }
        watch?.cancel()
        watch = nil
        close(descriptor)
    }
}
