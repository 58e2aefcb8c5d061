import Foundation
import Glibc
import KalijLab
import TestSupport
import Testing

/// Encrypted conversations under kills: what each device of both sides has counts, and what the archive shows of the keys.
@Suite(.serialized) struct EncryptionKillTests {
    /// `Scripts/long encryption-kills 500` gives the long form: so many kills at each server.
    private let kills = LongForm.amount("encryption-kills", short: 8)

    @Test(
        "two people with two devices each, killed while all write: each device has each text once, and no key is used twice"
    )
    func killed() async throws {
        try await World.atEachServer { world in try await run(world) }
    }

    private func run(_ world: World) async throws {
        let kind = world.server.kind
        let random = RandomChoices("encrypted, killed", part: kind == .prosody ? 0 : 1)
        let users = [
            EncryptedUser(world.kalij), try EncryptedUser("alice", world, directory: "data-alice-2"),
            try EncryptedUser("bob", world), try EncryptedUser("bob", world, directory: "data-bob-2"),
        ]
        for user in users { try await user.ready() }
        #expect(try users[0].kalij("omemo", "on", "bob@localhost").status == 0)
        #expect(try users[2].kalij("omemo", "on", "alice@localhost").status == 0)
        for user in users[1...] where user !== users[2] {
            let other = user === users[1] ? "bob@localhost" : "alice@localhost"
            #expect(try user.kalij("omemo", "on", other).status == 0)
        }
        var texts: [String] = []
        for number in 0..<kills {
            for (place, user) in users.enumerated() {
                texts.append("text \(number) of device \(place)")
                let to = place < 2 ? "bob@localhost" : "alice@localhost"
                #expect(try user.kalij("send", to, texts[texts.count - 1], "--queue-only").status == 0)
            }
            try await sleep(for: random.milliseconds(0...700))
            let victim = users[random.number(0...3)]
            victim.kill()
            if random.flip() { _ = try victim.kalij("wake") }
            try await victim.begin()
        }
        func haveAll() async throws -> Bool {
            try await until(every: 200) {
                try users.allSatisfy { try Set($0.messages().compactMap(\.body)).isSuperset(of: texts) }
            }
        }
        let isDone = try await haveAll()
        // What comes twice comes before these.
        for (place, user) in users.enumerated() {
            texts.append("last of device \(place)")
            let to = place < 2 ? "bob@localhost" : "alice@localhost"
            #expect(try user.kalij("send", to, texts[texts.count - 1], "--queue-only").status == 0)
        }
        let haveLast = try await haveAll()
        for (place, user) in users.enumerated() {
            let lines = try user.messages()
            let unread = lines.filter { $0.encryption?["undecryptable"] != nil || $0.encryption?["plain"] != nil }
            #expect(unread.isEmpty, "\(kind), device \(place): \(unread)")
            #expect(lines.compactMap(\.body).sorted() == texts.sorted(), "\(kind), device \(place)")
        }
        let archives = try await [world.peer("alice").archive(), world.peer("bob").archive()]
        let keys = try ArchivedKeys(archives.flatMap { $0 })
        #expect(keys.plain.isEmpty, "\(kind): \(keys.plain)")
        #expect(keys.usedTwice.isEmpty, "\(kind): \(keys.usedTwice)")
        print("\(kind): \(kills) kills, \(texts.count) texts on 4 devices, \(keys.count) keys in the archives")
        #expect(isDone && haveLast, "\(kind)")
        for user in users { user.end() }
    }
}
