import Glibc
import KalijLab
import KalijText

/// `kalij-push-demo PATH-OF-KALIJ-PUSH PATH-OF-KALIJ`: a push is triggered, queued and discarded, and a push wakes a phone, with
/// real servers and clients. `kalij-push-demo nodes PATH-OF-KALIJ-PUSH`: several nodes.
@main
enum PushDemo {
    private static let token = "demo-device-token-0123456789abcdef"
    private static let messages = 5

    private static let usage: PrintedText = """
        usage: kalij-push-demo PATH-OF-KALIJ-PUSH PATH-OF-KALIJ
               kalij-push-demo nodes PATH-OF-KALIJ-PUSH

        Without "nodes": pushes on a real Prosody; half a minute.
        nodes: three nodes, and a real Redis that is cut off, killed and emptied; half a minute.
               The exit status is 0 only if everything was as promised.
        """

    static func main() async {
        let words = Array(CommandLine.arguments.dropFirst())
        if words == ["--help"] { return say(usage) }
        guard words.count == 2 else {
            write(usage, to: STDERR_FILENO)
            exit(64)
        }
        do {
            if words[0] == "nodes" {
                try await NodesDemo.run(words[1], say: say)
            } else {
                try await run(words[0], kalij: words[1])
            }
        } catch {
            write("kalij-push-demo: \(error)", to: STDERR_FILENO)
            exit(1)
        }
    }

    /// Writes a line unbuffered, even if the output is not a terminal.
    private static func say(_ line: PrintedText) { write(line, to: STDOUT_FILENO) }

    private static func write(_ line: PrintedText, to descriptor: Int32) {
        let bytes = Array((line.description + "\n").utf8)
        _ = Glibc.write(descriptor, bytes, bytes.count)
    }

    private static func run(_ executable: String, kalij: String) async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let (port, page) = (try freePort(), try freePort())
        say("Prosody starts. It serves alice@localhost and bob@localhost, and lets in the component push.localhost.")
        let server = try await startedServer(.prosody, in: laboratory, options: ServerOptions(componentPort: port))
        let log = try await startPushServer(executable, port: port, page: page, laboratory)

        say("Alice's phone asks Prosody to tell push.localhost of messages, names its token, and goes away.")
        let alice = Peer("alice", password: "secret", server: server, laboratory: laboratory)
        try await alice.enablePush(service: "push.localhost", node: token, module: "demo")

        say("\nBob writes \(messages) messages, one every two seconds. Prosody asks kalij-push for a push each time:")
        let bob = Peer("bob", password: "secret", server: server, laboratory: laboratory)
        let chat = try await bob.chat(with: "alice@localhost", label: "Hello", rate: 0.5, count: messages)
        let began = ContinuousClock.now
        try await follow(page: page, laboratory)
        _ = try await log.wait(for: "push to demo", count: 1, seconds: 10)

        say("\nWhen the 20 s are over, the push that was queued goes out:")
        let second = try await log.wait(for: "push to demo", count: 2, seconds: 30)
        let seconds = Int(((ContinuousClock.now - began) / .seconds(1)).rounded())
        say("  after \(seconds) s, kalij-push writes: \(second)")
        say(
            """

            \(messages) messages, 2 pushes: the phone was woken at once, and once more for all the rest.
            Prosody was answered "result" \(messages) times, so that it keeps Alice's registration. kalij-push has seen the
            name of Bob's and Alice's server and the phone's token; neither who wrote to whom nor what.
            """)
        await chat.quit()
        try await PhoneDemo(
            kalij: kalij, laboratory: laboratory, server: server, log: log, pushes: 2, say: say
        ).run()
    }

    /// Reports the outcome of each message's push.
    private static func follow(page: Int, _ laboratory: Laboratory) async throws {
        var before = DemoCounters()
        let deadline = ContinuousClock.now + .seconds(30)
        for number in 1...messages {
            var now = before
            while now.total < number {
                guard ContinuousClock.now < deadline else {
                    throw DemoLog.Missing(description: "Prosody has not asked for a push \(number) times within 30 s")
                }
                try await sleep(for: .milliseconds(50))
                now = try await DemoCounters.read(port: page, laboratory)
            }
            say("  message \(number): \(now.verdict(since: before))")
            before = now
        }
    }

    private static func startPushServer(
        _ executable: String, port: Int, page: Int, _ laboratory: Laboratory
    ) async throws -> DemoLog {
        let settings = """
            {
              "component": {
                "componentHostname": "push.localhost", "componentKey": "component-key",
                "serverHostname": "127.0.0.1", "serverPort": \(port)
              },
              "pushModules": {"demo": {"type": "log", "is_default_module": true}},
              "http": {"port": \(page)}
            }
            """
        try writeDemoFile(settings, to: laboratory.path("settings.json"))
        say(
            "kalij-push starts as push.localhost, with a provider that writes a line instead of asking Apple or Google."
        )
        say("While this runs, http://127.0.0.1:\(page)/ shows what its operator sees.")
        var launch = laboratory.launch(executable, ["serve", laboratory.path("settings.json")])
        launch.errors = .file(laboratory.path("push.log"))
        let log = DemoLog(path: laboratory.path("push.log"), process: try Subprocess(launch))
        _ = try await log.wait(for: "connected to the XMPP server", count: 1, seconds: 15)
        return log
    }
}
