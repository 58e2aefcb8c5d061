import KalijLab
import Testing

/// The laboratory's proxy: some connections are cut somewhere, in each manner, and the rest gets through whole.
@Suite struct ProxyTests {
    @Test("connections are cut at different bytes with a reset, an end or a silence, once cutting is on")
    func cuts() async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let port = try freePort()
        let server = try Subprocess(laboratory.launch("/usr/bin/python3", ["-c", Self.server, "\(port)"]))
        let proxy = try CuttingProxy(to: port, share: 1, seed: 3)
        defer { proxy.stop() }

        let whole = try await connect(5, to: proxy.port, in: laboratory)
        #expect(whole == Array(repeating: "200000 end", count: 5))
        #expect(proxy.cuts.total == 0)

        proxy.cut(true)
        // The proxy may still be waiting for a connection that is not to be cut.
        while try await connect(1, to: proxy.port, in: laboratory) == ["200000 end"] {}
        // A cut is counted a moment after the client has seen it.
        #expect(await until { proxy.cuts.total == 1 })
        let before = proxy.cuts
        let cut = try await connect(24, to: proxy.port, in: laboratory)
        #expect(await until { proxy.cuts.total == 25 })
        let (closed, reset, held) = (
            proxy.cuts.closed - before.closed, proxy.cuts.reset - before.reset, proxy.cuts.held - before.held
        )
        #expect(Set(cut).count > 20, "each at another byte")
        #expect(cut.allSatisfy { (Int($0.split(separator: " ")[0]) ?? 200_000) <= 60_000 })
        #expect(closed > 0 && closed == cut.count { $0.hasSuffix("end") })
        #expect(reset > 0 && held > 0)
        #expect(reset + held == cut.count { $0.hasSuffix("reset") })
        await server.stop(seconds: 2)
    }

    /// Reads to the end of so many connections; returns for each the number of bytes and the manner of the end.
    private func connect(_ count: Int, to port: Int, in laboratory: Laboratory) async throws -> [String] {
        let output = try await laboratory.run("/usr/bin/python3", ["-c", Self.client, "\(port)", "\(count)"])
        return output.split(separator: "\n").map(String.init)
    }

    private static let server = """
        import socket, sys, threading
        listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
        def serve(connection):
            try:
                connection.sendall(b"x" * 200000)
                connection.shutdown(socket.SHUT_WR)
                connection.recv(1)
            except OSError:
                pass
            connection.close()
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        """
    private static let client = """
        import socket, sys, time, threading
        lines = []
        def read():
            for attempt in range(100):
                connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
                total = 0
                try:
                    while data := connection.recv(65536):
                        total += len(data)
                    if total == 0 and attempt < 99:
                        time.sleep(0.05)  # the server is not there yet
                        continue
                    lines.append("%d end" % total)
                except ConnectionResetError:
                    lines.append("%d reset" % total)
                connection.close()
                return
        threads = [threading.Thread(target=read) for _ in range(int(sys.argv[2]))]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print("\\n".join(lines))
        """
}
