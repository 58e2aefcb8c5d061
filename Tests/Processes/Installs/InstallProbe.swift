import Foundation
import KalijLab
import Testing

/// Uses a default installation as a user does, with `kalij` alone, and says for each feature what has come of it.
///
/// Alice has two devices, Bob has one. Each answer is "yes", "no", or more words where the user sees more.
final class InstallProbe {
    private let server: any XMPPServer
    private let laboratory: Laboratory
    private let (alice, phone, bob): (Kalij, Kalij, Kalij)
    private var answers: [(feature: String, answer: String)] = []

    init(_ server: any XMPPServer, in laboratory: Laboratory) throws {
        (self.server, self.laboratory) = (server, laboratory)
        (alice, phone, bob) = (
            try Kalij(data: laboratory.path("alice")), try Kalij(data: laboratory.path("phone")),
            try Kalij(data: laboratory.path("bob"))
        )
    }

    /// The features in the order of the table, with what has come of them.
    func results() async throws -> [(feature: String, answer: String)] {
        try logIn()
        let bobs = try bob.running()
        try await bobs.event("caught_up")
        var run = try alice.running()
        try await run.event("caught_up")
        try await reach(bobs)
        try await devices()
        run = try await again(run)
        let online = try await run.event("online")
        note("the session goes on after a kill (0198)", online["resumed"] as? Bool == true)
        try await blocking(run)
        try await clientState()
        try push()
        try await bookmarks()
        try await rooms(bobs)
        try await lostSession(run, bobs)
        return answers
    }

    private func note(_ feature: String, _ answer: String) { answers.append((feature, answer)) }
    private func note(_ feature: String, _ isSo: Bool) { note(feature, isSo ? "yes" : "no") }

    /// What a command that has failed has said, without addresses by chance.
    private func words(_ outcome: Kalij.Outcome) -> String {
        let said = outcome.errors.split(separator: "\n").last.map(String.init) ?? "nothing said"
        let plain = said.replacing(#/^kalij: /#, with: "").replacing(/[0-9a-f]{8}-[0-9a-f-]{27}/, with: "ROOM")
        return "no (\(outcome.status)): \(plain.replacing("|", with: "/"))"
    }

    private func bodies(_ kalij: Kalij, _ conversation: String) throws -> [String] {
        try kalij("--json", "history", conversation).objects().compactMap { $0["body"] as? String }
    }

    private func sql(_ query: String, of kalij: Kalij) async throws -> String {
        let database = kalij.data + "/kalij.db"
        let row = try await laboratory.run("/usr/bin/sqlite3", ["-batch", "-cmd", ".timeout 10000", database, query])
        return row.trimmingCharacters(in: .newlines)
    }

    // MARK: One to one

    private func logIn() throws {
        let outcome = try alice.login(server)
        let mechanism = outcome.output.firstMatch(of: /\((.+?)\)/).map { String($0.output.1) }
        note("login, by STARTTLS", outcome.status == 0 ? "yes, \(mechanism ?? "")" : words(outcome))
        #expect(try bob.login(server, as: "bob@localhost").status == 0)
    }

    private func reach(_ bobs: Running) async throws {
        let sent = try alice("send", "bob@localhost", "first", "--confirm")
        let isThere = await event(of: bobs, "message") { $0["body"] as? String == "first" }
        note("a message to a contact", sent.status == 0 ? isThere ? "yes" : "no" : words(sent))
    }

    /// Whether an event comes.
    private func event(of run: Running, _ name: String, where matches: ([String: Any]) -> Bool) async -> Bool {
        (try? await run.event(name, where: matches)) != nil
    }

    private func devices() async throws {
        #expect(try phone.login(server).status == 0)
        let phones = try phone.running()
        try await phones.event("caught_up")
        note("the account's own archive (0313)", try bodies(phone, "bob@localhost").contains("first"))
        // What comes before the server's answer is copied to nobody, and without an archive nobody finds it.
        _ = try await until(every: 50) { try await sql("SELECT carbons FROM session", of: phone) == "1" }
        #expect(try alice("send", "bob@localhost", "second", "--confirm").status == 0)
        let isCopied = await event(of: phones, "message") { $0["body"] as? String == "second" }
        note("copies for other devices (0280)", isCopied)
        #expect(phones.end(SIGTERM).status == 0)
    }

    /// Kills a process of Alice's, and starts the next.
    private func again(_ run: Running) async throws -> Running {
        run.process.signal(SIGKILL)
        run.process.ended()
        return try alice.running()
    }

    private func blocking(_ run: Running) async throws {
        let blocked = try alice("block", "bob@localhost", "--wait")
        #expect(try bob("send", "alice@localhost", "blocked").status == 0)
        let isRefused = try await until(every: 100) {
            try bob("--json", "history", "alice@localhost").objects().contains {
                $0["body"] as? String == "blocked" && $0["state"] as? String == "failed"
            }
        }
        let unblocked = try alice("unblock", "bob@localhost", "--wait")
        #expect(try bob("send", "alice@localhost", "unblocked").status == 0)
        let isThere = await event(of: run, "message") { $0["body"] as? String == "unblocked" }
        // The second message comes after whatever the first has led to.
        let isSpared = try isThere && !bodies(alice, "bob@localhost").contains("blocked")
        let answer = isSpared ? isRefused ? "yes" : "yes; the sender is told nothing" : "no"
        note("blocking (0191)", [blocked, unblocked].first { $0.status != 0 }.map(words) ?? answer)
    }

    /// `kalij` says that nobody looks when it lets a session with pushes go; nothing that others see tells whether the server
    /// has heard this, so the offer has to do.
    private func clientState() async throws {
        let offers = try await sql("SELECT offers FROM session", of: alice)
        note("offered: client state (0352)", offers.contains("urn:xmpp:csi:0"))
    }

    private func push() throws {
        // There is no such service; but the server has to take the registration.
        let enabled = try alice("push", "enable", "push.localhost", "token", "--wait")
        let isConfirmed = try alice("push").status == 0
        note("push (0357)", enabled.status == 0 ? isConfirmed ? "yes" : "no: not confirmed" : words(enabled))
        if enabled.status == 0 { #expect(try alice("push", "disable", "--wait").status == 0) }
    }

    // MARK: Rooms

    private func rooms(_ bobs: Running) async throws {
        let items = try alice("disco", "localhost", "--items")
        note("a service for rooms (0045)", items.output.contains("conference.localhost"))
        let created = try alice("room", "create", "Balcony scene", "--invite", "bob@localhost")
        let room = try alice("--json", "room").objects().first?["room"] as? String
        guard created.status == 0, let room else {
            note("`room create` makes a group", words(created))
            for feature in Self.ofRooms { note(feature, "") }
            return
        }
        let group = try alice("--json", "room").objects().first?["group"] as? Bool == true
        note("`room create` makes a group", group ? "yes" : "no: an open room")
        #expect(try alice("send", room, "early", "--confirm").status == 0)
        let isInvited = await event(of: bobs, "invitation") { $0["room"] as? String == room }
        let joined = try bob("room", "join", room)
        note(Self.ofRooms[0], isInvited ? joined.status == 0 ? "yes" : words(joined) : "no")
        let isRead = await event(of: bobs, "room_read") { $0["reason"] == nil }
        let isEarly = try await until(every: 100) { try bodies(bob, room).contains("early") }
        note(Self.ofRooms[1], isRead && isEarly ? "yes" : isEarly ? "part: the last messages of the room" : "no")
        let ids = try await sql("SELECT count(*) FROM occupant WHERE occupant_id IS NOT NULL", of: alice)
        note(Self.ofRooms[2], ids != "0")
        try await moderation(room)
        try await followed()
    }

    private static let ofRooms = [
        "an invitation arrives, and lets in", "the room's archive (0313)", "ids of occupants (0421)",
        "`room moderate` (0425)", "by its bookmark the other device enters the room",
    ]

    private func moderation(_ room: String) async throws {
        #expect(try bob("send", room, "bad", "--confirm").status == 0)
        var bad: Int?
        _ = try await until(every: 100) {
            bad = try alice("--json", "history", room).objects().first { $0["body"] as? String == "bad" }?["id"] as? Int
            return bad != nil
        }
        let moderated = try alice("room", "moderate", room, "\(bad ?? 0)")
        guard moderated.status == 0 else { return note(Self.ofRooms[3], words(moderated)) }
        note(Self.ofRooms[3], try await until(every: 100) { try !bodies(bob, room).contains("bad") })
    }

    private func bookmarks() async throws {
        var kind = ""
        _ = try await until(every: 100) {
            kind = try await sql("SELECT kind FROM bookmarks", of: alice)
            return !kind.isEmpty
        }
        let names = ["native": "an item each, in PEP", "item": "one item in PEP", "storage": "private XML"]
        note("where bookmarks are kept (0402, 0048, 0049)", names[kind] ?? "nowhere")
    }

    private func followed() async throws {
        let isIn = try await until(every: 100) {
            _ = try phone("wake", "--budget", "300")
            return try phone("--json", "room").objects().contains { $0["room_state"] as? String == "joined" }
        }
        note(Self.ofRooms[4], isIn)
    }

    // MARK: A lost session

    /// Alice has this device alone. The server is restarted, and forgets the session that waits for Alice.
    private func lostSession(_ run: Running, _ bobs: Running) async throws {
        let left = try phone("logout", "alice@localhost")
        #expect(left.status == 0, "\(left)")
        run.process.signal(SIGKILL)
        run.process.ended()
        #expect(try bob("send", "alice@localhost", "to the session", "--confirm").status == 0)
        #expect(bobs.end(SIGTERM).status == 0)
        await server.stop()
        try await server.start()
        #expect(try bob("send", "alice@localhost", "to nobody", "--confirm").status == 0)
        let woken = try alice("wake", "--budget", "300")
        #expect(woken.status == 0, "\(woken)")
        let there = try bodies(alice, "bob@localhost")
        note("a message to nobody online", there.contains("to nobody"))
        note("a message that waits in a session when the server is restarted", there.contains("to the session"))
    }
}
