import Foundation
import KalijLab
import Testing

/// A group of four people with four clients, made and managed from the command line, on both servers.
///
/// `Documentation/GroupOfFour.md` has the commands and their output; `KALIJ_WRITE=1` writes the output of this run there.
@Suite(.serialized) struct GroupOfFourTests {
    private static let document = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Documentation/GroupOfFour.md").path

    @Test("kalij, slixmpp, profanity and poezio in a group: made, spoken in, renamed, one removed; the transcript")
    func four() async throws {
        try await World.atEachServer(users: ["alice", "bob", "carol", "dave"]) { world in
            let group = try await Group(world)
            try await group.enter()
            try await group.talk()
            try await group.rename()
            try await group.remove()
            await group.end()
            if world.server.kind == .prosody { try group.transcript.compare(with: Self.document) }
        }
    }
}

/// The group and its members: Alice has kalij, Bob slixmpp, Carol profanity, Dave poezio.
private final class Group {
    let transcript: Transcript
    private let world: World
    private let room: String
    private let bob: Chat
    private let carol: Profanity
    private let dave: Poezio

    private var kind: ServerKind { world.server.kind }

    /// Carol and Dave are online when they are invited. Bob comes later, and enters: his invitation waits at the server.
    init(_ world: World) async throws {
        self.world = world
        carol = try await Profanity("carol", in: world)
        dave = try await Poezio("dave", in: world)
        transcript = Transcript(world.kalij)
        try transcript.run(
            "room", "create", "Balcony scene", "--invite", "bob@localhost,carol@localhost,dave@localhost")
        let made = try #require(try world.kalij("--json", "room").objects().first)
        room = try #require(made["room"] as? String)
        transcript.call(room, "ROOM")
        try transcript.run("room")
        bob = try await world.peer("bob").chat(with: room, label: "", rate: 1, count: 0, nick: "bob")
    }

    /// The invited accept.
    func enter() async throws {
        let isInvited = await until(every: 50) {
            carol.has("RECV", "jabber:x:conference", room) && dave.has("RECV", "jabber:x:conference", room)
        }
        #expect(isInvited, "\(kind): profanity and poezio are invited")
        try carol.type("/join \(room) nick carol")
        try dave.type("/join \(room)/dave")
        let areIn = await until(every: 50) {
            carol.has("RECV", "<presence", "\(room)/carol", "110")
                && dave.has("RECV", "<presence", "\(room)/dave", "110")
        }
        #expect(areIn, "\(kind): profanity and poezio have entered")
        try fetch()
        let members = try transcript.run("room", "members", room)
        #expect(members.split(separator: "\n").count == 4 && !members.contains("not present"), "\(kind): \(members)")
    }

    /// Each says something, and each hears everything once.
    func talk() async throws {
        try transcript.run("send", room, "Good night, good night!", "--confirm")
        try await everybodyHears([("alice", "Good night, good night!")])
        try bob.send(
            raw: "<message type='groupchat' to='\(room)' id='b1'><body>What shall I swear by?</body></message>")
        try await everybodyHears([("bob", "What shall I swear by?")])
        try carol.type("I hear some noise within")
        try await everybodyHears([("carol", "I hear some noise within")])
        try dave.type("Anon, good nurse!")
        try await everybodyHears([("dave", "Anon, good nurse!")])
        try transcript.run("history", room)
    }

    func rename() async throws {
        try transcript.run("room", "rename", room, "Garden scene")
        try transcript.run("room")
        let isTold = await until(every: 50) {
            carol.has("RECV", "<message", room, "'104'") || carol.has("RECV", "<message", room, "\"104\"")
        }
        #expect(isTold, "\(kind): profanity is told of a change")
        #expect(
            await until(every: 50) { dave.isTold("configuration change", in: room) },
            "\(kind): poezio is told of a change")
        try carol.type("/disco info \(room)")
        #expect(
            await until(every: 50) { carol.has("RECV", "disco#info", room, "Garden scene") },
            "\(kind): profanity sees the name")
    }

    /// Dave is removed, and hears nothing more; the others do.
    func remove() async throws {
        try transcript.run("room", "remove", room, "dave@localhost", "--reason", "the nurse calls")
        let isTold = await until(every: 50) {
            dave.has("RECV", "<presence", "\(room)/dave", "unavailable", "321")
                && carol.has("RECV", "<presence", "\(room)/dave", "unavailable")
        }
        #expect(isTold, "\(kind): poezio and profanity are told of the removal")
        try transcript.run("send", room, "Parting is such sweet sorrow", "--confirm")
        try carol.type("Sleep dwell upon thine eyes")
        try await everybodyHears(
            [("alice", "Parting is such sweet sorrow"), ("carol", "Sleep dwell upon thine eyes")], but: "dave")
        // Nor does Dave come back. The answer comes after all that the room has sent to him.
        try dave.type("/join \(room)/dave")
        let isRefused = await until(every: 50) {
            dave.has("RECV", "<presence", room, "error", "registration-required")
        }
        #expect(isRefused, "\(kind): poezio is refused")
        #expect(dave.heard(in: room) == Array(said.prefix(4)), "\(kind): poezio hears nothing more")
        let members = try transcript.run("room", "members", room)
        #expect(members.split(separator: "\n").count == 3 && !members.contains("dave"), "\(kind): \(members)")
        try transcript.run("history", room, "--limit", "2")
    }

    func end() async {
        carol.quit()
        dave.quit()
        await bob.quit()
    }

    // MARK: What is heard

    /// What was said so far, in the room's order.
    private var said: [Heard] = []

    /// All clients have the texts said so far, and nothing else.
    private func everybodyHears(_ texts: [(nick: String, body: String)], but absent: String? = nil) async throws {
        said += texts.map { Heard(nick: $0.nick, body: $0.body) }
        for user in ["alice", "bob", "carol", "dave"] where user != absent {
            var there: [Heard] = []
            let isHeard = try await until(every: 100) {
                there = try await heard(by: user)
                return there == said
            }
            #expect(isHeard, "\(kind): \(user) has heard \(there)")
        }
    }

    private func heard(by user: String) async throws -> [Heard] {
        func nick(_ address: String?) -> String { String((address ?? "").dropFirst(room.count + 1)) }
        switch user {
        case "alice":
            try fetch()
            return try world.kalij("--json", "history", room).objects().map {
                let isOwn = $0["direction"] as? String == "out"
                return Heard(nick: isOwn ? user : nick($0["from"] as? String), body: $0["body"] as? String ?? "")
            }
        case "bob":
            return try bob.events()
                .filter { $0.event == "received" && $0.type == "groupchat" && $0.body?.isEmpty == false }
                .map { Heard(nick: nick($0.sender), body: $0.body ?? "") }
        case "carol": return try await carol.heard(in: room)
        default: return dave.heard(in: room)
        }
    }

    /// Between the commands no `kalij` runs: what has come for Alice waits at the server.
    private func fetch() throws { #expect(try world.kalij("wake", "--budget", "300").status == 0, "\(kind)") }
}
