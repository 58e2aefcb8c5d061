import CMicroHTTPD
import Glibc
import KalijPush
import KalijText
import KalijTransport

/// Serves `/` (the operator's page), `/metrics`, `/healthz` and `/readyz`; libmicrohttpd implements HTTP, on the server's loop.
final class MonitoringServer {
    /// Why the pages cannot be served.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    private struct Page {
        var status: UInt32 = 200
        var type: String
        var body: [UInt8]
    }

    private let loop: EventLoop
    private let settings: HTTPSettings
    /// The connections, oldest first.
    private var connections: [OpaquePointer] = []
    /// The maximum number of connections: beyond it the server closes the oldest, so that idle connections exclude no client.
    /// Below libmicrohttpd's limit, at which it accepts no more.
    private static let maxConnections = 48
    // traps: never, the program holds both to its end
    private unowned let server: PushServer
    private var daemon: OpaquePointer?
    private var watch: Watch?
    private var timer: Timer?

    /// Starts to listen.
    /// - Throws: ``Problem``, or `SystemError`.
    init(loop: EventLoop, settings: HTTPSettings, server: PushServer) throws {
        self.loop = loop
        self.settings = settings
        self.server = server
        guard var address = Self.address(settings) else {
            throw Problem(description: "http.address: \(settings.address) is no IPv4 or IPv6 address")
        }
        errno = 0
        // libmicrohttpd reads the address within the call.
        daemon = withUnsafeBytes(of: &address) { bytes in
            kalij_mhd_start(
                bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), Self.answer, Self.changed,
                Unmanaged.passUnretained(self).toOpaque())  // lives: the daemon is stopped in `deinit`
        }
        guard let daemon else {
            // The library reports no reason itself; errno holds that of the last system call.
            let reason = errno == 0 ? "" : ": \(String(cString: strerror(errno)))"
            throw Problem(description: "http: cannot listen on \(settings.address) port \(settings.port)\(reason)")
        }
        watch = try loop.watch(kalij_mhd_epoll(daemon), .read) { [weak self] _ in self?.run() }
    }

    deinit { close() }

    func close() {
        timer?.cancel()
        watch?.cancel()
        watch = nil
        if let daemon { MHD_stop_daemon(daemon) }
        daemon = nil
    }

    private func run() {
        guard let daemon else { return }
        MHD_run(daemon)
        // At its connection limit, libmicrohttpd stops listening, and resumes only in the run after the end of a connection,
        // which nothing else would trigger.
        MHD_run(daemon)
        timer?.cancel()
        var wait: UInt64 = 0
        guard MHD_get_timeout(daemon, &wait) == .YES else { return }
        timer = loop.schedule(after: Double(min(wait, 60_000)) / 1000) { [weak self] in self?.run() }
    }

    private static func address(_ settings: HTTPSettings) -> sockaddr_storage? {
        var storage = sockaddr_storage()
        var four = sockaddr_in()
        var six = sockaddr_in6()
        // sockaddr_storage can hold either.
        if inet_pton(AF_INET, settings.address, &four.sin_addr) == 1 {
            four.sin_family = sa_family_t(AF_INET)
            four.sin_port = settings.port.bigEndian
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: four, as: sockaddr_in.self) }
        } else if inet_pton(AF_INET6, settings.address, &six.sin6_addr) == 1 {
            six.sin6_family = sa_family_t(AF_INET6)
            six.sin6_port = settings.port.bigEndian
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: six, as: sockaddr_in6.self) }
        } else {
            return nil
        }
        return storage
    }

    // MARK: Connections

    private func began(_ connection: OpaquePointer) {
        connections.append(connection)
        guard connections.count > Self.maxConnections else { return }
        // libmicrohttpd closes the connection once it reads the end of the input.
        shutdown(kalij_mhd_socket(connections.removeFirst()), Int32(SHUT_RDWR))
    }

    private static let changed: MHD_NotifyConnectionCallback = { user, connection, _, event in
        guard let user, let connection else { return }
        // Passed in `init`; the daemon is stopped before the server is released.
        let server = Unmanaged<MonitoringServer>.fromOpaque(user).takeUnretainedValue()
        if kalij_mhd_began(event) != 0 {
            server.began(connection)
        } else {
            server.connections.removeAll { $0 == connection }
        }
    }

    // MARK: Answers

    private func page(_ path: String) -> Page {
        switch path {
        case "/": return Page(type: "text/html; charset=utf-8", body: PackageResources.operator_html)
        case "/metrics":
            return Page(
                type: "text/plain; version=0.0.4; charset=utf-8",
                body: Array(server.metrics(version: kalijVersion).utf8))
        case "/healthz": return Page(type: "text/plain; charset=utf-8", body: Array("alive\n".utf8))
        case "/readyz":
            let problems = server.problems
            // The text of a provider is untrusted.
            let lines = problems.lines.isEmpty ? ["ready"] : problems.lines.map { PrintedText(field: $0).description }
            let text = lines.joined(separator: "\n") + "\n"
            return Page(
                status: problems.isReady ? 200 : 503, type: "text/plain; charset=utf-8", body: Array(text.utf8))
        default: return Page(status: 404, type: "text/plain; charset=utf-8", body: Array("no such page\n".utf8))
        }
    }

    private static let answer: MHD_AccessHandlerCallback = { user, connection, url, method, _, _, _, _ in
        guard let user, let url, let method else { return .NO }
        // Passed in `init`; the daemon is stopped before the server is released.
        let server = Unmanaged<MonitoringServer>.fromOpaque(user).takeUnretainedValue()
        let isRead = ["GET", "HEAD"].contains(String(cString: method))
        let host = kalij_mhd_host(connection).map { String(cString: $0) }
        let page =
            !server.settings.serves(host: host)
            ? Page(status: 421, type: "text/plain", body: Array("a name that is not in http.hosts\n".utf8))
            : isRead
                ? server.page(String(cString: url))
                : Page(status: 405, type: "text/plain", body: Array("only to be read\n".utf8))
        let response = page.body.withUnsafeBytes { bytes in
            // Copied by libmicrohttpd.
            MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
        }
        defer { MHD_destroy_response(response) }
        MHD_add_response_header(response, "Content-Type", page.type)
        MHD_add_response_header(response, "Cache-Control", "no-store")
        MHD_add_response_header(response, "X-Content-Type-Options", "nosniff")
        MHD_add_response_header(
            response, "Content-Security-Policy",
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'")
        return MHD_queue_response(connection, page.status, response)
    }
}
