import Foundation
import Glibc
import KalijLab
import Testing

/// Receipts with real servers: cases that a random run hardly meets.
@Suite(.serialized) struct ReceiptCaseTests {
    private static let (bob, mallory) = ("bob@localhost", "mallory@localhost")

    @Test(
        "cases 13, 15: what our other device has answered gets no second receipt; a stranger gets neither receipt nor marker"
    )
    func answered() async throws {
        try await World.atEachServer(options: ServerOptions(resumeSeconds: 5), users: ["alice", "bob", "mallory"]) {
            world in
            let log = world.server.sessionReader(account: "alice@localhost")
            // From now on bob may know what alice has got and read.
            #expect(try world.kalij("send", Self.bob, "before").status == 0)
            let away = try Kalij(data: world.laboratory.path("away"))
            #expect(try away.login(world.server).status == 0)
            let first = try away.running()
            try await first.event("caught_up")
            #expect(first.end(SIGTERM).status == 0)
            // The session of the device that is away is lost.
            try await world.untilLost(log)
            let run = try world.kalij.running()
            try await run.event("caught_up")
            var chats: [Chat] = []
            for user in ["bob", "mallory"] {
                chats.append(
                    try await world.peer(user).chat(
                        with: "alice@localhost", label: "text", rate: 0, count: 1, originIDs: true, receipts: true,
                        markers: true))
            }
            for contact in [Self.bob, Self.mallory] {
                #expect(
                    try await until(every: 50) { try world.kalij("history", contact).output.contains("text 1") })
                #expect(try world.kalij("read", contact, "--wait").status == 0)
            }
            func given(_ kind: String, _ chat: Chat) throws -> Int { try chat.events().count { $0.event == kind } }
            #expect(
                try await until(every: 50) { try given("receipt", chats[0]) == 1 && given("marker", chats[0]) == 1 }
            )
            let second = try away.running()
            try await second.event("caught_up")
            #expect(try away("history", Self.bob).output.contains("text 1"))
            #expect(try away("read", Self.bob, "--wait").status == 0)
            // What this device gives comes before its message.
            for (chat, contact) in zip(chats, [Self.bob, Self.mallory]) {
                #expect(try away("send", contact, "after it", "--confirm").status == 0)
                #expect(try await until(every: 50) { try chat.events().contains { $0.body == "after it" } })
            }
            #expect(try given("receipt", chats[0]) == 1 && given("marker", chats[0]) == 1, "\(world.server.kind)")
            #expect(try given("receipt", chats[1]) == 0 && given("marker", chats[1]) == 0)
            // Nor does a stranger hear anything else.
            #expect(try chats[1].events().allSatisfy { $0.event != "received" || $0.body == "after it" })
            for process in [run, second] { #expect(process.end(SIGTERM).status == 0) }
            for chat in chats { await chat.quit() }
        }
    }

    @Test(
        "case 20: without an archive nobody knows the outcome of a message whose session is lost; its receipt settles the message"
    )
    func unknownOutcome() async throws {
        var options = ServerOptions()
        options.archive = .never
        try await World.atEachServer(options: options) { world in
            var run = try world.kalij.running()
            try await run.event("caught_up")
            try await world.kalij.untilAnswered()
            // The message leaves, and no answer comes.
            let server = try #require(world.server.pid)
            #expect(kill(server, SIGSTOP) == 0)
            #expect(try world.kalij("send", Self.bob, "whatever", "--id", "m", "--queue-only").status == 0)
            let hasLeft = try await until(every: 20) {
                try await world.sql("SELECT state FROM message") == "sent\n"
            }
            #expect(hasLeft)
            run.process.signal(SIGKILL)
            run.process.ended()
            // Prosody that ends in order tells later how much of the lost session was handled; ejabberd that does not end in order
            // forgets accounts.
            #expect(kill(server, world.server.kind == .prosody ? SIGKILL : SIGCONT) == 0)
            try await world.server.restart()
            run = try world.kalij.running()
            let isReported = try await until(every: 100) {
                try run.events().contains { $0["event"] as? String == "unsettled" }
            }
            let told = try run.lines
            #expect(isReported, "\(world.server.kind): \(told)")
            func record() throws -> [String: Any]? { try world.kalij("--json", "history").objects().first }
            #expect(try record()?["settled"] as? Bool == false, "\(world.server.kind)")
            try await world.peer("bob").send(
                raw:
                    "<message to='alice@localhost' type='chat' id='r'><received xmlns='urn:xmpp:receipts' id='m'/></message>"
            )
            #expect(try await until(every: 50) { try record()?["state"] as? String == "delivered" })
            #expect(try record()?["settled"] == nil)
            #expect(run.end(SIGTERM).status == 0)
        }
    }
}
