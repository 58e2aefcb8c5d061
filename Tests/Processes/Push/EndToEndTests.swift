import Foundation
import KalijLab
import KalijPushLab
import Testing

/// Real servers, a real client and the real command; only Apple is a stand-in. Both servers run at the same time,
/// because most of the time is waiting.
@Suite("Push, end to end", .serialized)
struct EndToEndTests {
    private static let token = String(repeating: "0123456789abcdef", count: 4)
    private static let dead = String(repeating: "fedcba9876543210", count: 4)
    /// With KALIJ_PUSH_LONG=1 the provider is down for a minute.
    private static let isLong = ProcessInfo.processInfo.environment["KALIJ_PUSH_LONG"] == "1"

    private struct Setting {
        let kind: ServerKind
        let laboratory: Laboratory
        let server: any XMPPServer
        let stage: PushStage
        let bob: Peer

        /// An account with a device registered for pushes, offline.
        func away(_ user: String, token: String) async throws {
            let peer = Peer(user, password: "secret", server: server, laboratory: laboratory)
            try await peer.enablePush(service: "push.localhost", node: token, module: "apple")
        }

        /// Bob writes, so many messages a second; 0 for at once.
        func send(_ count: Int, rate: Double = 0, to user: String = "alice") async throws -> Chat {
            try await bob.chat(with: "\(user)@localhost", label: "m", rate: rate, count: count)
        }

        /// Bob writes a message and goes offline.
        func sendOne(to user: String = "alice") async throws {
            let chat = try await send(1, to: user)
            try await chat.finished(seconds: 20)
            await chat.quit()
        }

        func wait(_ seconds: Double, _ words: String, _ condition: () async throws -> Bool) async throws {
            let end = Date().addingTimeInterval(seconds)
            while try await !condition(), Date() < end { try await sleep(for: .milliseconds(20)) }
            #expect(try await condition(), "\(kind): not within \(seconds) s: \(words)")
        }
    }

    /// A server with accounts, and the attached push server. Alice's device is registered.
    private func setUp(_ kind: ServerKind, window: String?) async throws -> Setting {
        let laboratory = try Laboratory()
        let port = try freePort()
        let server = try await startedServer(
            kind, in: laboratory, options: ServerOptions(componentPort: port), users: ["alice", "bob", "carol"])
        let stage = try PushStage(folder: laboratory.path("push"), port: port, window: window)
        try stage.start()
        let bob = Peer("bob", password: "secret", server: server, laboratory: laboratory)
        let setting = Setting(kind: kind, laboratory: laboratory, server: server, stage: stage, bob: bob)
        try await setting.wait(10, "connected") { stage.log.contains("connected to the XMPP server") }
        try await setting.away("alice", token: Self.token)
        return setting
    }

    private func withBoth(
        window: String? = "20s", _ body: @escaping @Sendable (Setting) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for kind in ServerKind.allCases {
                group.addTask {
                    let setting = try await setUp(kind, window: window)
                    defer { setting.laboratory.close() }
                    try await body(setting)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test(
        """
        a message for a device that is away: one push within 2 s; 10 in 5 s: one at once, one after 20 s; a dead token: \
        blocked here, and ejabberd forgets the registration at once
        """)
    func pushes() async throws {
        try await withBoth { setting in
            let chat = try await setting.send(10, rate: 2)
            try await setting.wait(10, "a push") { !setting.stage.apns.pushes.isEmpty }
            let sent = try #require(try chat.events().first { $0.event == "sent" }?.at)
            let first = try #require(setting.stage.apns.pushes.first)
            #expect((0..<2).contains(first.at - sent), "\(setting.kind)")
            #expect(first.token == Self.token)
            #expect(first.fields["apns-push-type"] == "alert")
            try await chat.finished(seconds: 20)
            await chat.quit()
            try await Self.deadToken(setting)
            try await setting.wait(30, "a second push") { setting.stage.apns.pushes.count == 2 }
            let pushes = setting.stage.apns.pushes
            #expect((19.5...22).contains(pushes[1].at - pushes[0].at), "\(setting.kind)")
            try await sleep(for: .seconds(2))
            #expect(setting.stage.apns.pushes.count == 2, "\(setting.kind)")
        }
    }

    /// Meanwhile, another device is gone.
    private static func deadToken(_ setting: Setting) async throws {
        let stage = setting.stage
        try await setting.away("carol", token: dead)
        stage.apns.script(dead, LabAPNs.reply(410, "Unregistered"))
        try await setting.sendOne(to: "carol")
        try await setting.wait(5, "the dead token is tried") { stage.apns.requests(for: dead) == 1 }
        try await setting.wait(5, "it is blocked") { try await stage.metric("blocked") == 1 }
        let before = try await stage.metric("publishes_total")
        try await setting.sendOne(to: "carol")
        if setting.kind == .prosody {
            // Prosody forgets a device after 16 such errors.
            try await setting.wait(5, "the block is hit") {
                try await stage.metric("pushes_total", #"outcome="blocked""#) == 1
            }
        } else {
            try await sleep(for: .seconds(2))
            #expect(try await stage.metric("publishes_total") == before, "ejabberd asks for a dead token again")
        }
        #expect(stage.apns.requests(for: dead) == 1, "\(setting.kind)")
    }

    /// Without a limit of the rate, so each publish is an error for the XMPP server.
    @Test("the provider down with 100 publishes, each answered with an error: no registration is lost")
    func providerDown() async throws {
        try await withBoth(window: nil) { setting in
            let stage = setting.stage
            let port = stage.stopAPNs()
            var chat = try await setting.send(100, rate: Self.isLong ? 100.0 / 60 : 20)
            try await chat.finished(seconds: 100)
            await chat.quit()
            try await setting.wait(5, "100 publishes") { try await stage.metric("publishes_total") == 100 }
            // The last publishes may be tried for 8 s before the answer.
            try await setting.wait(10, "all are answered") { try await stage.metric("in_flight") == 0 }
            #expect(try await stage.metric("pushes_total", #"outcome="delivered""#) == 0)
            #expect(try await stage.metric("blocked") == 0)
            try stage.startAPNs(port: port)
            // Connections are tried again after 5 s at the latest.
            chat = try await setting.send(12, rate: 1)
            try await setting.wait(12, "a push after the provider has come back") { !stage.apns.pushes.isEmpty }
            await chat.quit()
            // A server without a past pushes only at a request.
            stage.kill()
            try stage.forget()
            let pushed = stage.apns.pushes.count
            try stage.start()
            try await setting.wait(10, "connected") { try await stage.metric("component_up") == 1 }
            try await setting.sendOne()
            try await setting.wait(5, "the registration is still there") { stage.apns.pushes.count > pushed }
            #expect(stage.apns.pushes.last?.token == Self.token)
        }
    }

    @Test(
        "the XMPP server restarted, with a push in flight and a push queued: both go out, and further pushes are asked for"
    )
    func restart() async throws {
        try await withBoth(window: "4s") { setting in
            let stage = setting.stage
            stage.apns.script(Self.token, .later(2, .respond(status: 200)))
            let chat = try await setting.send(2)
            try await chat.finished(seconds: 20)
            await chat.quit()
            try await setting.wait(5, "one in flight, one queued") {
                let isQueued = try await stage.metric("queued") == 1
                return isQueued && stage.apns.requests(for: Self.token) == 1
            }
            await setting.server.stop()
            try await setting.wait(5, "the loss is noticed") { try await stage.metric("component_up") == 0 }
            try await setting.wait(10, "the queued push") { stage.apns.requests(for: Self.token) == 2 }
            try await setting.wait(2, "both are delivered") {
                try await stage.metric("pushes_total", #"outcome="delivered""#) == 2
            }
            try await setting.server.start()
            try await setting.wait(10, "connected again") { try await stage.metric("component_up") == 1 }
            try await sleep(for: .seconds(4))
            try await setting.sendOne()
            try await setting.wait(5, "a push after the restart") { stage.apns.requests(for: Self.token) == 3 }
            #expect(try await stage.metric("refused_total") == 0)
        }
    }
}
