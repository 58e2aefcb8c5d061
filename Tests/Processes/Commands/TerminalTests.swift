import Foundation
import KalijLab
import Testing

/// The experience of a user at a terminal, at a pseudo terminal.
@Suite(.serialized) struct TerminalTests {
    /// Runs a command at its own terminal, types `keys` once `awaited` was printed, and reports the end.
    private static let driver = """
        import fcntl, json, os, pty, select, sys, termios, time
        awaited, keys, command = sys.argv[1].encode(), bytes.fromhex(sys.argv[2]), sys.argv[3:]
        master, slave = pty.openpty()
        before = termios.tcgetattr(slave)
        pid = os.fork()
        if pid == 0:
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            for descriptor in range(3): os.dup2(slave, descriptor)
            os.execv(command[0], command)
        out, typed, hidden, status, deadline = b"", False, None, None, time.time() + 280
        while time.time() < deadline:
            ready = select.select([master], [], [], 0.05)[0]
            if ready: out += os.read(master, 65536)
            if not typed and awaited and awaited in out:
                while not hidden and time.time() < deadline:
                    hidden = not termios.tcgetattr(slave)[3] & termios.ECHO
                os.write(master, keys)
                typed = True
            if not ready and status is not None: break
            if status is None:
                done, status = os.waitpid(pid, os.WNOHANG)
                if done == 0: status = None
        if status is None: os.kill(pid, 9)
        print(json.dumps({"out": out.decode("utf-8", "replace"), "hidden": hidden, "typed": typed,
            "same": termios.tcgetattr(slave) == before,
            "status": None if status is None else os.waitstatus_to_exitcode(status)}))
        """

    private struct Session: Decodable {
        let out: String
        let hidden: Bool?
        let typed: Bool
        let same: Bool
        let status: Int32?
    }

    private func session(
        _ kalij: Kalij, _ arguments: [String], type keys: [UInt8] = [], after awaited: String = "",
        in laboratory: Laboratory
    ) async throws -> Session {
        let hex = keys.map { String(format: "%02x", $0) }.joined()
        let output = try await laboratory.run(
            "/usr/bin/python3",
            ["-c", Self.driver, awaited, hex, kalij.executable, "--data", kalij.data] + arguments)
        return try JSONDecoder().decode(Session.self, from: Data(output.utf8))
    }

    @Test(
        "the password prompt ignores Ctrl-C, Ctrl-\\ and Ctrl-D no more, and the terminal is left unchanged",
        arguments: [(3, -SIGINT), (28, -SIGQUIT), (4, 65)] as [(UInt8, Int32)])
    func keys(key: UInt8, status: Int32) async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let kalij = try Kalij(data: laboratory.path("data"))
        let typed: [UInt8] = key == 4 ? [key] : Array("secr".utf8) + [key]
        let session = try await session(
            kalij, ["login", "alice@localhost"], type: typed, after: "Password of alice@localhost: ", in: laboratory)
        #expect(session.typed && session.hidden == true)
        #expect(session.status == status, "\(session.out)")
        #expect(session.same, "echo is on again")
        #expect(!session.out.contains("secr"))
        #expect(!FileManager.default.fileExists(atPath: kalij.data + "/kalij.db"))
    }

    @Test("a typed password logs in, and is not shown") func password() async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let server = try await makeServer(.prosody, in: laboratory)
        try await server.start()
        try await server.register("alice", password: "Grüße, secret")
        let kalij = try Kalij(data: laboratory.path("data"))
        let session = try await session(
            kalij,
            [
                "login", "alice@localhost", "--server", "127.0.0.1:\(server.port)", "--ca", server.certificateAuthority,
            ], type: Array("Grüße, secret\n".utf8), after: "Password of alice@localhost: ", in: laboratory)
        #expect(session.status == 0, "\(session.out)")
        #expect(session.same && session.hidden == true)
        #expect(session.out.contains("alice@localhost can log in") && !session.out.contains("secret"))
    }

    @Test("query cleans its output for a terminal, and prints unchanged for a program")
    func query() async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let kalij = try Kalij(data: laboratory.path("data"))
        let text = "a\u{9B}2Jb\u{202E}c"
        try "<m><b>\(text)</b></m>".write(toFile: laboratory.path("m.xml"), atomically: true, encoding: .utf8)
        #expect(try kalij("query", "b#", laboratory.path("m.xml")).output == text + "\n")
        let shown = try await session(kalij, ["query", "b#", laboratory.path("m.xml")], in: laboratory)
        #expect(shown.status == 0 && shown.out == "a\u{FFFD}2Jbc\r\n")
    }
}
