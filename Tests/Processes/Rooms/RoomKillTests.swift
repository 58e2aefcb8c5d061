import Foundation
import KalijLab
import TestSupport
import Testing

/// Rooms on real servers, under kills: judged from the log of another occupant, and from the room's archive.
@Suite(.serialized) struct RoomKillTests {
    /// `Scripts/long room-kills 500` and `Scripts/long room-losses 250` give the long forms.
    private static let kills = LongForm.amount("room-kills", short: 8)
    private static let losses = LongForm.amount("room-losses", short: 3)

    @Test(
        "case 25: a client is killed again and again within one session: the room sees one join, all messages come once"
    )
    func killedWithinASession() async throws {
        try await atEachServer { kind in
            let talk = try await Talk(kind, resumeSeconds: 600)
            defer { talk.world.close() }
            try await talk.run(kills: Self.kills)
            try await talk.settle()
            let joins = try talk.chat.events().count { $0.event == "presence" && $0.isOfAlice && $0.type == nil }
            let leaves = try talk.chat.events().count { $0.event == "presence" && $0.isOfAlice && $0.type != nil }
            #expect((joins, leaves) == (1, 0), "\(kind)")
            await talk.chat.quit()
        }
    }

    @Test("case 26: sessions are lost while messages are not shown yet: the room has all once, in order")
    func lostSessions() async throws {
        try await atEachServer { kind in
            let talk = try await Talk(kind, resumeSeconds: 2)
            defer { talk.world.close() }
            let end = try await SessionEnd("bob", in: talk.world)
            for _ in 0..<Self.losses { try await talk.lose(end) }
            try await talk.settle()
            await talk.chat.quit()
        }
    }

    private func atEachServer(_ body: @Sendable @escaping (ServerKind) async throws -> Void) async throws {
        // At the same time: most of the time is waiting.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for kind in LongForm.servers { group.addTask { try await body(kind) } }
            try await group.waitForAll()
        }
    }
}

/// A line of the history.
private struct Said: Decodable {
    let direction: String
    let body: String?
    let state: String?
}

extension PeerEvent {
    fileprivate var isOfAlice: Bool { sender == "\(Talk.room)/alice" }
}

/// A room with bob, who uses slixmpp, and alice, whose `kalij` is killed.
private actor Talk {
    static let room = "orchard@conference.localhost"

    nonisolated let world: World
    nonisolated let chat: Chat
    private let kind: ServerKind
    private let random: RandomChoices
    /// What alice has said, in order.
    private var said: [String] = []
    private var (kills, losses) = (0, 0)
    private let start = Date()

    init(_ kind: ServerKind, resumeSeconds: Int) async throws {
        self.kind = kind
        random = RandomChoices("rooms", part: kind == .prosody ? 0 : 1)
        world = try await World(kind, options: ServerOptions(resumeSeconds: resumeSeconds))
        chat = try await world.peer("bob").chat(
            with: Self.room, label: "question", rate: 8, originIDs: true, nick: "bob")
        let joined = try world.kalij("--json", "room", "join", Self.room)
        #expect(joined.status == 0, "\(kind): \(joined)")
    }

    private func say() throws {
        said.append("answer-\(said.count)")
        let result = try world.kalij("send", Self.room, said.last ?? "", "--queue-only")
        #expect(result.status == 0, "\(result)")
    }

    func run(kills: Int) async throws {
        for _ in 0..<kills {
            let run = try world.kalij.running()
            for _ in 0..<random.number(1...3) { try say() }
            try await sleep(for: random.milliseconds(30...900))
            run.process.signal(SIGKILL)
            run.process.ended()
            self.kills += 1
        }
    }

    /// The process dies while messages are on their way, and the session ends.
    func lose(_ end: SessionEnd) async throws {
        let run = try world.kalij.running()
        try await run.event("online")
        // A resumed session is in the room already.
        let isIn = try await until { try await world.sql("SELECT state FROM room") == "joined\n" }
        #expect(isIn, "\(kind)")
        for _ in 0..<3 { try say() }
        try await sleep(for: random.milliseconds(0...120))
        run.process.signal(SIGKILL)
        run.process.ended()
        try await end.wait(for: world.kalij, in: world.laboratory)
        losses += 1
    }

    /// Waits until all is quiet, and compares.
    func settle() async throws {
        _ = try await chat.stopSending()
        let run = try world.kalij.running()
        let isShown = try await until(every: 300) {
            try await world.sql("SELECT count(*) FROM room_message") == "0\n"
        }
        // What comes twice comes before what is said now.
        try say()
        let isOver = try await until { try chat.events().contains { $0.isOfAlice && $0.body == said.last } }
        #expect(isOver, "\(kind)")
        let isDelivered = try await until(every: 100) {
            try await world.sql("SELECT count(*) FROM room_message") == "0\n"
        }
        #expect(isDelivered, "\(kind)")
        let heard = try chat.events().filter { $0.event == "received" && $0.isOfAlice }.compactMap(\.body)
        let asked = try chat.events().filter { $0.event == "received" && $0.sender == "\(Self.room)/bob" }
            .compactMap(\.body)
        let history = try world.kalij("--json", "history", Self.room, "--limit", "1000000")
        let records = try history.lines.filter { !$0.contains("\"event\":\"gap\"") }
            .map { try JSONDecoder().decode(Said.self, from: Data($0.utf8)) }
        let mine = records.filter { $0.direction == "out" }
        print(
            """
            room at \(kind): \(kills) kills, \(losses) lost sessions, \(Int(Date().timeIntervalSince(start))) s; alice: \(said.count) \
            texts, heard \(heard.count); bob: \(asked.count) texts
            """)
        let rest = try await world.sql(
            "SELECT message, state, nick, acked_at, refusals FROM room_message; SELECT * FROM room")
        #expect(isShown, "\(kind): \(rest)")
        #expect(heard == said, "\(kind)")
        #expect(mine.map(\.body) == said, "\(kind)")
        #expect(mine.allSatisfy { $0.state == "delivered" }, "\(kind): \(Set(mine.map(\.state)))")
        let archived = try await world.peer("bob").archive(of: Self.room)
            .filter { $0.sender == "\(Self.room)/alice" }.compactMap(\.body)
        #expect(archived == said, "\(kind): the room's archive")
        let missing = Set(asked).subtracting(records.filter { $0.direction == "in" }.compactMap(\.body))
        #expect(missing.isEmpty, "\(kind)")
        #expect(records.count { $0.direction == "in" } == asked.count, "\(kind)")
        #expect(run.end(SIGTERM).status == 0)
    }
}
