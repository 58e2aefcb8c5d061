import Foundation
import KalijLab
import KalijPushLab
import Testing

/// Real servers, a real client and the real command; Apple alone is a stand-in.
@Suite("Push, end to end", .serialized)
struct EndToEndTests {
    private static let token = String(repeating: "0123456789abcdef", count: 4)

    private struct Setting {
        let laboratory: Laboratory
        let server: any XMPPServer
        let stage: PushStage
        let alice: Peer
        let bob: Peer
    }

    /// A server with the accounts alice and bob, and the push server attached to it. Alice's device is registered.
    private func setUp(_ kind: ServerKind) async throws -> Setting {
        let laboratory = try Laboratory()
        let port = try freePort()
        let server = try await makeServer(kind, in: laboratory, options: ServerOptions(componentPort: port))
        try await server.start()
        for user in ["alice", "bob"] { try await server.register(user, password: "secret") }
        let stage = try PushStage(folder: laboratory.path("push"), port: port)
        try stage.start()
        try await wait(10) { stage.log.contains("connected to the XMPP server") }
        let alice = Peer("alice", password: "secret", server: server, laboratory: laboratory)
        try await alice.enablePush(service: "push.localhost", node: Self.token, module: "apple")
        try await Task.sleep(for: .seconds(1))
        let bob = Peer("bob", password: "secret", server: server, laboratory: laboratory)
        return Setting(laboratory: laboratory, server: server, stage: stage, alice: alice, bob: bob)
    }

    private func wait(_ seconds: Double, _ condition: () -> Bool) async throws {
        let end = Date().addingTimeInterval(seconds)
        while !condition(), Date() < end { try await Task.sleep(for: .milliseconds(20)) }
        #expect(condition(), "not within \(seconds) s")
    }

    private func send(_ count: Int, rate: Double, from bob: Peer) async throws -> Chat {
        try await bob.chat(with: "alice@localhost", label: "m", rate: rate, count: count)
    }

    @Test(
        "a message for a device that is away: one push within 2 s; 10 in 5 s: one at once, one after 20 s",
        arguments: ServerKind.allCases)
    func pushes(kind: ServerKind) async throws {
        let setting = try await setUp(kind)
        defer { setting.laboratory.close() }
        let began = Date().timeIntervalSince1970
        let chat = try await send(10, rate: 2, from: setting.bob)
        try await wait(10) { !setting.stage.apns.pushes.isEmpty }
        let sent = try #require(try chat.events().first { $0.event == "sent" }?.at)
        let first = try #require(setting.stage.apns.pushes.first)
        #expect(first.at - sent < 2)
        #expect(first.at >= began)
        #expect(first.token == Self.token)
        #expect(first.fields["apns-push-type"] == "alert")
        try await wait(30) { setting.stage.apns.pushes.count == 2 }
        let pushes = setting.stage.apns.pushes
        #expect((19.5...22).contains(pushes[1].at - pushes[0].at))
        try await Task.sleep(for: .seconds(2))
        #expect(setting.stage.apns.pushes.count == 2)
        await chat.quit()
    }

    @Test("a dead token: blocked here, and ejabberd forgets the registration at once", arguments: ServerKind.allCases)
    func deadToken(kind: ServerKind) async throws {
        let setting = try await setUp(kind)
        defer { setting.laboratory.close() }
        setting.stage.apns.script(Self.token, LabAPNs.reply(410, "Unregistered"))
        var chat = try await send(1, rate: 0, from: setting.bob)
        try await wait(5) { setting.stage.apns.requests(for: Self.token) == 1 }
        await chat.quit()
        chat = try await send(1, rate: 0, from: setting.bob)
        try await Task.sleep(for: .seconds(2))
        #expect(setting.stage.apns.requests(for: Self.token) == 1)
        await chat.quit()
        // A push server that knows of no block would send, if the XMPP server asked it to.
        setting.stage.kill()
        try setting.stage.forget()
        try setting.stage.start()
        try await Task.sleep(for: .seconds(3))
        chat = try await send(1, rate: 0, from: setting.bob)
        try await Task.sleep(for: .seconds(3))
        #expect(setting.stage.apns.requests(for: Self.token) == (kind == .ejabberd ? 1 : 2))
        await chat.quit()
    }

    @Test("the provider down with 100 publishes: no registration is lost", arguments: ServerKind.allCases)
    func providerDown(kind: ServerKind) async throws {
        let setting = try await setUp(kind)
        defer { setting.laboratory.close() }
        let port = setting.stage.stopAPNs()
        var chat = try await send(100, rate: 5, from: setting.bob)
        try await chat.finished(seconds: 60)
        await chat.quit()
        try await Task.sleep(for: .seconds(10))
        try setting.stage.startAPNs(port: port)
        // The client of HTTP rests for 30 s at most after failures.
        for _ in 0..<25 where setting.stage.apns.pushes.isEmpty {
            chat = try await send(1, rate: 0, from: setting.bob)
            try await Task.sleep(for: .seconds(1))
            await chat.quit()
        }
        #expect(setting.stage.apns.pushes.first?.token == Self.token)
    }
}
