import CSimulatedMachine
import Glibc

/// The simulated server on a real port of the loopback, in real time, to play the same transcripts to the simulated server and to
/// real servers. The account is alice@localhost. A line `restart` on standard input restarts the server.
struct Serving {
    private let world = World(seed: 1, trace: nil)
    private let server: SimulatedServer

    init(_ profile: Profile) {
        server = SimulatedServer(world, profile.atEase, account: "alice@localhost")
        server.latency = 50...500
        server.hasStrangers = true
    }

    func run() -> Int32 {
        guard let listener = listen() else { return 69 }
        var links: [Int32: Link] = [:]
        let begin = now()
        while true {
            let watched = [listener, STDIN_FILENO] + links.keys.sorted()
            var polled = watched.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            poll(&polled, nfds_t(polled.count), 2)
            for entry in polled where entry.revents != 0 {
                if entry.fd == listener {
                    accept(listener, &links)
                } else if entry.fd == STDIN_FILENO {
                    guard let line = readLine() else { return 0 }
                    if line == "restart" { server.restart(after: 100_000) }
                } else {
                    receive(entry.fd, links[entry.fd])
                }
            }
            world.run(until: now() - begin)
            for (descriptor, link) in links where link.isOver {
                close(descriptor)
                links[descriptor] = nil
            }
        }
    }

    private func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    private func listen() -> Int32? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        // A sockaddr_in begins as every sockaddr does.
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && Glibc.listen(descriptor, 8) == 0
                    && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isListening else { return nil }
        print("port \(UInt16(bigEndian: address.sin_port))")
        fflush(nil)
        return descriptor
    }

    private func accept(_ listener: Int32, _ links: inout [Int32: Link]) {
        let descriptor = Glibc.accept(listener, nil, nil)
        guard descriptor >= 0 else { return }
        guard let link = server.connect() else {
            close(descriptor)
            return
        }
        links[descriptor] = link
        link.onClient = { [weak link] arrival in
            switch arrival {
            case .bytes(let bytes):
                _ = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            case .end, .reset: link?.isOver = true
            }
        }
    }

    private func receive(_ descriptor: Int32, _ link: Link?) {
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        if count > 0 {
            link?.send(Array(bytes.prefix(count)), from: .client)
        } else {
            link?.end(from: .client)
            link?.isOver = true
        }
    }
}
