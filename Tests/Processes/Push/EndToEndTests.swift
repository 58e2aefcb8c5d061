import Foundation
import KalijLab
import KalijPushLab
import TestSupport
import Testing

/// Real servers, a real client and the real command; only Apple is a stand-in. Both servers run at the same time,
/// because most of the time is waiting.
@Suite("Push, end to end", .serialized)
struct EndToEndTests {
    private static let token = String(repeating: "0123456789abcdef", count: 4)
    private static let dead = String(repeating: "fedcba9876543210", count: 4)
    /// For how many seconds the provider is down: `Scripts/long push-outage 60` for a minute.
    private static let outage = LongForm.amount("push-outage", short: 2)

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

        /// Bob writes, so many messages a second, 0 for at once; without a count he goes on.
        func send(_ count: Int?, rate: Double = 0, to user: String = "alice") async throws -> Chat {
            try await bob.chat(with: "\(user)@localhost", label: "m", rate: rate, count: count)
        }

        /// Bob writes a message and goes offline.
        func sendOne(to user: String = "alice") async throws {
            let chat = try await send(1, to: user)
            try await chat.finished()
            await chat.quit()
        }

        func wait(_ words: String, _ condition: () async throws -> Bool) async throws {
            let isTrue = try await until(every: 20, condition)
            #expect(isTrue, "\(kind): not \(words)")
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
        try await setting.wait("connected") { stage.log.contains("connected to the XMPP server") }
        try await setting.away("alice", token: Self.token)
        return setting
    }

    private func withBoth(
        window: String? = "20s", _ body: @escaping @Sendable (Setting) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for kind in LongForm.servers {
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
        10 messages for a device that is away: one push at once, one when the time between two is over, and no more; a dead token: \
        blocked here, and ejabberd forgets the registration at once
        """)
    func pushes() async throws {
        try await withBoth(window: "10s") { setting in
            let stage = setting.stage
            let chat = try await setting.send(10)
            try await setting.wait("a push") { !stage.apns.pushes.isEmpty }
            let sent = try #require(try chat.events().first { $0.event == "sent" }?.at)
            let first = try #require(stage.apns.pushes.first)
            print("\(setting.kind): a push \(first.at - sent) s after the message")
            #expect(first.token == Self.token)
            #expect(first.fields["apns-push-type"] == "alert")
            try await chat.finished()
            await chat.quit()
            try await setting.wait("10 publishes") { try await stage.metric("publishes_total") == 10 }
            try await Self.deadToken(setting)
            // Nothing waits any more.
            try await setting.wait("a second push") {
                let queued = try await stage.metric("queued")
                return queued == 0 && stage.apns.pushes.count >= 2
            }
            let pushes = stage.apns.pushes
            print("\(setting.kind): the second push \(pushes[1].at - pushes[0].at) s after the first")
            #expect(pushes.count == 2 && pushes[1].token == Self.token, "\(setting.kind)")
        }
    }

    /// Meanwhile, another device is gone.
    private static func deadToken(_ setting: Setting) async throws {
        let stage = setting.stage
        try await setting.away("carol", token: dead)
        stage.apns.script(dead, LabAPNs.reply(410, "Unregistered"))
        try await setting.sendOne(to: "carol")
        try await setting.wait("the dead token is tried") { stage.apns.requests(for: dead) == 1 }
        try await setting.wait("it is blocked") { try await stage.metric("blocked") == 1 }
        let before = try await stage.metric("publishes_total")
        try await setting.sendOne(to: "carol")
        if setting.kind == .prosody {
            // Prosody forgets a device after 16 such errors.
            try await setting.wait("the block is hit") {
                try await stage.metric("pushes_total", #"outcome="blocked""#) == 1
            }
        } else {
            // What ejabberd asks for the dead token, it asks before this.
            try await setting.sendOne()
            try await setting.wait("another publish") { try await stage.metric("publishes_total") > before }
            #expect(try await stage.metric("publishes_total") == before + 1, "ejabberd asks for a dead token again")
        }
        #expect(stage.apns.requests(for: dead) == 1, "\(setting.kind)")
    }

    /// Without a limit of the rate, so each publish is an error for the XMPP server.
    @Test("the provider down with 100 publishes, each answered with an error: no registration is lost")
    func providerDown() async throws {
        try await withBoth(window: nil) { setting in
            let stage = setting.stage
            let port = stage.stopAPNs()
            var chat = try await setting.send(100, rate: 100 / Double(Self.outage))
            try await chat.finished()
            await chat.quit()
            try await setting.wait("100 publishes") { try await stage.metric("publishes_total") == 100 }
            // The last publishes may be tried for 8 s before the answer.
            try await setting.wait("all answered") { try await stage.metric("in_flight") == 0 }
            #expect(try await stage.metric("pushes_total", #"outcome="delivered""#) == 0)
            #expect(try await stage.metric("blocked") == 0)
            try stage.startAPNs(port: port)
            // Connections are tried again after 5 s at the latest.
            chat = try await setting.send(nil, rate: 1)
            try await setting.wait("a push after the provider has come back") { !stage.apns.pushes.isEmpty }
            await chat.quit()
            // A server without a past pushes only at a request.
            stage.kill()
            try stage.forget()
            let pushed = stage.apns.pushes.count
            try stage.start()
            try await setting.wait("connected") { try await stage.metric("component_up") == 1 }
            try await setting.sendOne()
            try await setting.wait("the registration is still there") { stage.apns.pushes.count > pushed }
            #expect(stage.apns.pushes.last?.token == Self.token)
        }
    }

    @Test(
        "the XMPP server restarted, with a push in flight and a push queued: both go out, and further pushes are asked for"
    )
    func restart() async throws {
        try await withBoth(window: "8s") { setting in
            let stage = setting.stage
            stage.apns.script(Self.token, .later(2, .respond(status: 200)))
            let chat = try await setting.send(2)
            try await chat.finished()
            await chat.quit()
            try await setting.wait("one in flight, one queued") {
                let isQueued = try await stage.metric("queued") == 1
                return isQueued && stage.apns.requests(for: Self.token) == 1
            }
            await setting.server.stop()
            try await setting.wait("the loss is noticed") { try await stage.metric("component_up") == 0 }
            try await setting.wait("the queued push") { stage.apns.requests(for: Self.token) == 2 }
            try await setting.wait("both delivered") {
                try await stage.metric("pushes_total", #"outcome="delivered""#) == 2
            }
            try await setting.server.start()
            try await setting.wait("connected again") { try await stage.metric("component_up") == 1 }
            try await setting.sendOne()
            try await setting.wait("a push after the restart") { stage.apns.requests(for: Self.token) == 3 }
            #expect(try await stage.metric("refused_total") == 0)
        }
    }
}
