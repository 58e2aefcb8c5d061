import Foundation
import KalijLab
import Testing

/// Encrypted groups of users of `kalij`, on both servers.
@Suite(.serialized) struct EncryptedGroupTests {
    @Test(
        "a group of three: encrypted for all members; a newcomer reads what comes later; an open room is refused"
    )
    func group() async throws {
        try await World.atEachServer(users: ["alice", "bob", "carol", "dave"]) { world in
            let kind = world.server.kind
            let alice = EncryptedUser(world.kalij)
            let (bob, carol, dave) = try (
                EncryptedUser("bob", world), EncryptedUser("carol", world), EncryptedUser("dave", world)
            )
            for user in [alice, bob, carol, dave] { try await user.ready() }
            func succeeds(_ user: EncryptedUser, _ words: String...) throws {
                let outcome = try user.kalij.run(words)
                #expect(outcome.status == 0, "\(kind): \(words): \(outcome.errors)")
            }
            try succeeds(alice, "room", "create", "Orchard", "--invite", "bob@localhost,carol@localhost")
            let room = try #require(alice.kalij("--json", "room").objects().first?["room"] as? String)
            try succeeds(bob, "room", "join", room)
            try succeeds(carol, "room", "join", room)
            try succeeds(alice, "omemo", "on", room)
            try succeeds(alice, "send", room, "for three", "--confirm")
            try await bob.has("for three", from: room)
            try await carol.has("for three", from: room)
            // Whoever is away reads the message from the archive.
            carol.end()
            try succeeds(bob, "send", room, "while carol is away", "--confirm")
            try await alice.has("while carol is away", from: room)
            try await carol.ready()
            try await carol.has("while carol is away", from: room)
            try succeeds(carol, "send", room, "back", "--confirm")
            try await bob.has("back", from: room)
            // A newcomer reads what comes later.
            try succeeds(alice, "room", "invite", room, "dave@localhost")
            try succeeds(dave, "room", "join", room)
            for user in [alice, bob, carol] {
                let isKnown = try await until {
                    try user.kalij("room", "members", room).output.contains("dave@localhost")
                }
                #expect(isKnown, "\(kind): the newcomer is no member")
            }
            try succeeds(alice, "send", room, "for four", "--confirm")
            try await dave.has("for four", from: room)
            for user in [alice, bob, carol] {
                let lines = try user.messages().filter { $0.from.hasPrefix(room) || $0.state != nil }
                #expect(
                    lines.compactMap(\.body) == ["for three", "while carol is away", "back", "for four"],
                    "\(kind): \(lines)")
                #expect(lines.allSatisfy { $0.encryption?["ns"] != nil && $0.encryption?["undecryptable"] == nil })
            }
            let before = try dave.messages().filter { $0.body == nil }
            let reasons = before.map { $0.encryption?["undecryptable"] as? String ?? "-" }
            #expect(Set(reasons).isSubset(of: ["not-for-us", "before-device"]), "\(kind): \(reasons)")
            let archive = try await world.peer("bob").archive(of: room)
            let archived = try ArchivedKeys(archive)
            #expect(archived.plain.isEmpty && archived.usedTwice.isEmpty, "\(kind): \(archived)")

            // In an open room nobody knows who listens.
            try succeeds(alice, "room", "config", room, "membersonly=0")
            let isOpen = try await until { try await world.sql("SELECT info & 1 FROM room") == "0\n" }
            #expect(isOpen, "\(kind): alice has not heard that the room is open")
            #expect(try alice.kalij("send", room, "for all?", "--confirm").status == 65, "\(kind)")
            try await alice.fails("for all?", because: "rooms for members")
            for user in [alice, bob, carol, dave] { user.end() }
        }
    }
}
