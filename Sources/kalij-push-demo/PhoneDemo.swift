import KalijLab
import KalijText

/// A phone without a running process that is a member of a group: shows what a message to the group triggers, up to the
/// notification.
struct PhoneDemo {
    let kalij: String
    let laboratory: Laboratory
    let server: any XMPPServer
    let log: DemoLog
    /// How many pushes the log contains beforehand.
    let pushes: Int
    let say: (PrintedText) -> Void

    private static let room = "orchard@conference.localhost"
    private static let token = "demo-phone-token-0123456789abcdef"

    func run() async throws {
        let group = [
            "muc#roomconfig_membersonly": "1", "muc#roomconfig_whois": "anyone", "muc#roomconfig_persistentroom": "1",
        ]
        let bob = try await Peer("bob", password: "secret", server: server, laboratory: laboratory)
            .chat(with: Self.room, label: "x", rate: 1, count: 0, nick: "bob", fields: group)
        try bob.send(
            raw: """
                <iq type='set' id='member' to='\(Self.room)'><query xmlns='http://jabber.org/protocol/muc#admin'>\
                <item affiliation='member' jid='alice@localhost'/></query></iq>
                """)
        say("\nBob has a group, and Alice is a member. Her phone's app enters the group, and enables push:")
        try await command(
            "login", "alice@localhost", "--server", "127.0.0.1:\(server.port)", "--ca", server.certificateAuthority)
        try await command("push", "enable", "push.localhost", Self.token, "--module", "demo")
        try await command("room", "join", Self.room)
        let joins = try await joins(bob, atLeast: 1)
        let socket = laboratory.path("push.sock")
        let waiting = try listen(socket)
        say("  No process of hers is connected now; Prosody keeps her session. The phone's system waits for a push.")

        say("\nBob says something in the group:")
        let began = ContinuousClock.now
        try bob.send(
            raw: "<message type='groupchat' to='\(Self.room)' id='said'><body>Who has the ladder?</body></message>")
        let push = try await log.wait(for: "push to demo", count: pushes + 1, seconds: 15)
        say("  \(milliseconds(since: began)) ms: Prosody has asked for a push, and kalij-push writes: \(push)")
        guard knock(at: socket) else { throw DemoLog.Missing(description: "nobody waits for pushes") }
        let shown = try await waiting.wait(for: "Who has the ladder?", count: 1, seconds: 20)
        say("  \(milliseconds(since: began)) ms: `kalij wake` shows: \(shown)")
        // By now a lost session would have joined the group again.
        try await sleep(for: .seconds(2))
        let after = try await self.joins(bob, atLeast: joins)
        say(
            after == 1
                ? "  Bob has seen her come in once: the wake went on with the session, and entered nothing anew."
                : "  Bob has seen her come in \(after) times: the session was lost, and the group entered anew.")
        waiting.process.signal(15)
        await bob.quit()
        try await command("logout", "alice@localhost", isQuiet: true)
    }

    /// How often Alice has joined the group.
    private func joins(_ bob: Chat, atLeast wanted: Int) async throws -> Int {
        let deadline = ContinuousClock.now + .seconds(15)
        while ContinuousClock.now < deadline {
            let count = try bob.events().count {
                $0.event == "presence" && $0.sender == "\(Self.room)/alice" && $0.type == nil
            }
            if count >= wanted { return count }
            try await sleep(for: .milliseconds(50))
        }
        throw DemoLog.Missing(description: "Bob has not seen Alice come in")
    }

    private func command(_ words: String..., isQuiet: Bool = false) async throws {
        let output = try await laboratory.run(
            kalij, ["--data", laboratory.path("phone")] + words, environment: ["KALIJ_PASSWORD": "secret"])
        if isQuiet { return }
        let shown = words.filter { !$0.hasPrefix("/") && $0 != "--ca" }.joined(separator: " ")
        say("  $ kalij \(shown)")
        for line in output.split(separator: "\n") { say("    \(String(line))") }
    }

    /// Simulates the phone's system: a connection to the socket starts a run.
    private func listen(_ socket: String) throws -> DemoLog {
        var launch = laboratory.launch(
            kalij, ["--data", laboratory.path("phone"), "wake", "--listen", socket])
        launch.output = .file(laboratory.path("wake.out"))
        launch.errors = .file(laboratory.path("wake.err"))
        return DemoLog(path: laboratory.path("wake.out"), process: try Subprocess(launch))
    }

    private func milliseconds(since began: ContinuousClock.Instant) -> Int {
        Int(((ContinuousClock.now - began) / .milliseconds(1)).rounded())
    }
}
