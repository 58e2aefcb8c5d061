import Glibc
import KalijLab

/// `kalij-push-demo PATH-OF-KALIJ-PUSH`: a push is triggered, queued and covered, with real servers and clients.
@main
enum PushDemo {
    private static let token = "demo-device-token-0123456789abcdef"

    static func main() async {
        guard CommandLine.arguments.count == 2 else {
            write("usage: kalij-push-demo PATH-OF-KALIJ-PUSH", to: STDERR_FILENO)
            exit(64)
        }
        do {
            try await run(CommandLine.arguments[1])
        } catch {
            write("kalij-push-demo: \(error)", to: STDERR_FILENO)
            exit(1)
        }
    }

    /// One line at once, even where the output is no terminal.
    private static func say(_ line: String) { write(line, to: STDOUT_FILENO) }

    private static func write(_ line: String, to descriptor: Int32) {
        let bytes = Array((line + "\n").utf8)
        _ = Glibc.write(descriptor, bytes, bytes.count)
    }

    private static func run(_ executable: String) async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let port = try freePort()
        say("Prosody starts, and lets in the component push.localhost.")
        let server = try await makeServer(.prosody, in: laboratory, options: ServerOptions(componentPort: port))
        try await server.start()
        for user in ["alice", "bob"] { try await server.register(user, password: "secret") }
        let log = try await startPushServer(executable, port: port, laboratory)

        say("Alice's phone asks its server for pushes, and goes away. It tells kalij-push nothing.")
        let alice = Peer("alice", password: "secret", server: server, laboratory: laboratory)
        try await alice.enablePush(service: "push.localhost", node: token, module: "demo")
        try await Task.sleep(for: .seconds(1))

        say("Bob writes five messages, one a second.")
        let bob = Peer("bob", password: "secret", server: server, laboratory: laboratory)
        let began = ContinuousClock.now
        let chat = try await bob.chat(with: "alice@localhost", label: "Hello", rate: 1, count: 5)
        try await chat.finished(seconds: 30)
        let first = try await log.wait(for: "push to demo", count: 1, seconds: 10)
        say("  \(first)")
        say(
            "The first one was pushed at once. The second one waits until 20 s are over; the others are covered by it.")
        let second = try await log.wait(for: "push to demo", count: 2, seconds: 30)
        say("  \(second)")
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        say(
            "Five messages, two pushes, \(Int(seconds.rounded())) s. Bob's server, Prosody, got five answers: result.")
        await chat.quit()
    }

    private static func startPushServer(
        _ executable: String, port: Int, _ laboratory: Laboratory
    ) async throws -> DemoLog {
        let settings = """
            {
              "component": {
                "componentHostname": "push.localhost", "componentKey": "component-key",
                "serverHostname": "127.0.0.1", "serverPort": \(port)
              },
              "pushModules": {"demo": {"type": "log", "is_default_module": true}}
            }
            """
        try writeDemoFile(settings, to: laboratory.path("settings.json"))
        say("kalij-push starts with the provider that only writes what it would push.")
        var launch = laboratory.launch(executable, ["serve", laboratory.path("settings.json")])
        launch.errors = .file(laboratory.path("push.log"))
        let log = DemoLog(path: laboratory.path("push.log"), process: try Subprocess(launch))
        _ = try await log.wait(for: "connected to the XMPP server", count: 1, seconds: 15)
        return log
    }
}
