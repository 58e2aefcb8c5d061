import Glibc
import KalijLab

/// A real DNS server (dnsmasq) on a loopback port, with only the given names.
final class NameServer {
    /// The servers for ``Resolver``.
    let address: String
    private let process: Command
    private let directory: TemporaryDirectory

    /// - Throws: if dnsmasq is missing or does not start within five seconds.
    init(_ options: [String]) throws {
        let port = UInt16(try freePort())
        address = "127.0.0.1:\(port)"
        directory = try TemporaryDirectory()
        let log = directory.path + "/log"
        process = try Command(
            [
                "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--user=",
                "--group=", "--pid-file=", "--bind-interfaces", "--listen-address=127.0.0.1", "--port=\(port)",
                "--local=/test/", "--log-facility=-",
            ] + options.map { "--" + $0 }, output: log)
        for _ in 0..<250 {
            if isListening(port) { return }
            usleep(20_000)
        }
        throw Command.Failure(description: "dnsmasq: " + ((try? readText(log)) ?? ""))
    }
}

private func isListening(_ port: UInt16) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    return connected(descriptor, port)
}

/// A listening socket with a full queue, so that the kernel drops new connections: an address without an answer.
final class BlackHole {
    let port: UInt16
    private var descriptors: [Int32] = []

    init(_ address: String, port: UInt16 = 0) throws {
        let family = address.contains(":") ? AF_INET6 : AF_INET
        let listener = socket(family, Int32(SOCK_STREAM.rawValue), 0)
        descriptors = [listener]
        guard let port = bound(listener, address, port), listen(listener, 0) == 0 else {
            throw Command.Failure(description: "bind \(address): \(String(cString: strerror(errno)))")
        }
        self.port = port
        for _ in 0..<4 {
            let filler = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
            _ = connected(filler, port, address)
            descriptors.append(filler)
        }
        usleep(20_000)
    }

    /// Makes room in the queue: a repeated attempt is let in.
    func open() {
        for filler in descriptors.dropFirst() { close(filler) }
        let listener = descriptors[0]
        descriptors = [listener]
        listen(listener, 16)
    }

    deinit { descriptors.forEach { close($0) } }
}

/// Connects to an address; true if connected at once.
func connected(_ descriptor: Int32, _ port: UInt16, _ address: String = "127.0.0.1") -> Bool {
    withSocketAddress(address, port) { connect(descriptor, $0, $1) == 0 }
}
