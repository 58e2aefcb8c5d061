import Foundation
import KalijLab
import Testing

/// What happens to encryption when something is missing, or when somebody is hostile.
@Suite(.serialized) struct EncryptionCaseTests {
    @Test("no keys: the message waits for them, or fails with a reason; never a text in plain")
    func noKeys() async throws {
        try await World.atEachServer { world in
            let kind = world.server.kind
            let alice = EncryptedUser(world.kalij)
            try await alice.ready()
            #expect(try alice.kalij("omemo", "on", "bob@localhost").status == 0)
            #expect(try alice.kalij("send", "bob@localhost", "without keys", "--confirm").status == 65, "\(kind)")
            try await alice.fails("without keys", because: "has published no keys")
            // With `--plain` the text goes as it is.
            #expect(try alice.kalij("send", "bob@localhost", "in plain", "--plain", "--confirm").status == 0)
            let archived = try await world.peer("bob").archive()
            #expect(archived.compactMap(\.body) == ["in plain"], "\(kind): \(archived)")
            alice.end()
        }
    }

    @Test(
        "shared while nobody drives: encrypted by the next driver for the devices of then, also if switched off since")
    func shared() async throws {
        try await World.atEachServer { world in
            let kind = world.server.kind
            let (alice, bob) = (EncryptedUser(world.kalij), try EncryptedUser("bob", world))
            for user in [alice, bob] { try await user.ready() }
            #expect(try alice.kalij("omemo", "on", "bob@localhost").status == 0)
            alice.end()
            #expect(try alice.kalij("send", "bob@localhost", "shared", "--queue-only").status == 0)
            // A device of later reads it, too.
            let later = try EncryptedUser("bob", world, directory: "data-bob-2")
            try await later.ready()
            #expect(try alice.kalij("flush").status == 0)
            try await bob.has("shared", from: "alice@localhost")
            try await later.has("shared", from: "alice@localhost")
            // Switched off between writing and sending.
            #expect(try alice.kalij("send", "bob@localhost", "still a secret", "--queue-only").status == 0)
            #expect(try alice.kalij("omemo", "off", "bob@localhost").status == 0)
            #expect(try alice.kalij("flush").status == 0)
            try await bob.has("still a secret", from: "alice@localhost")
            let archive = try await world.peer("bob").archive()
            let keys = try ArchivedKeys(archive)
            #expect(keys.plain.isEmpty, "\(kind): \(keys.plain)")
            for user in [bob, later] { user.end() }
        }
    }

    @Test(
        "corrections and replies are encrypted; a correction in plain replaces no encrypted text; reactions are refused"
    )
    func changes() async throws {
        try await World.atEachServer { world in
            let kind = world.server.kind
            let (alice, bob) = (EncryptedUser(world.kalij), try EncryptedUser("bob", world))
            for user in [alice, bob] { try await user.ready() }
            #expect(try alice.kalij("omemo", "on", "bob@localhost").status == 0)
            #expect(try alice.kalij("send", "bob@localhost", "Romeo, Romeo", "--id", "one", "--confirm").status == 0)
            try await bob.has("Romeo, Romeo", from: "alice@localhost")
            #expect(try alice.kalij("correct", "one", "O Romeo", "--wait").status == 0)
            try await bob.has("O Romeo", from: "alice@localhost")
            #expect(try bob.kalij("send", "alice@localhost", "here", "--reply", "one", "--confirm").status == 0)
            try await alice.has("here", from: "bob@localhost")
            try await world.peer("alice").send(
                raw: """
                    <message to='bob@localhost' type='chat' id='forged'><body>Paris</body>\
                    <replace xmlns='urn:xmpp:message-correct:0' id='one'/></message>
                    """)
            try await bob.has("Paris", from: "alice@localhost")
            let lines = try bob.messages()
            #expect(lines.compactMap(\.body) == ["O Romeo", "here", "Paris"], "\(kind): \(lines)")
            #expect(lines.last?.encryption?["plain"] as? Bool == true, "\(kind): \(lines)")
            let refused = try alice.kalij("react", "one", "❤", "--wait")
            #expect(refused.status == 65 && refused.errors.contains("cannot be encrypted"), "\(kind): \(refused)")
            let archived = try await world.peer("bob").archive()
            let texts = archived.compactMap(\.body).joined(separator: "\n")
            for secret in ["Romeo", "here"] { #expect(!texts.contains(secret), "\(kind): \(texts)") }
            for user in [alice, bob] { user.end() }
        }
    }

    @Test(
        "an old copy of the database is put back: one event, no key used twice, and then everything arrives; with 0.3 and 2",
        arguments: [false, true])
    func restored(withVersion2: Bool) async throws {
        try await World.atEachServer { world in
            let kind = world.server.kind
            let (alice, bob) = (EncryptedUser(world.kalij), try EncryptedUser("bob", world))
            for user in [alice, bob] {
                if withVersion2 { try await user.readyWithVersion2() } else { try await user.ready() }
            }
            #expect(try alice.kalij("omemo", "on", "bob@localhost").status == 0)
            #expect(try alice.kalij("send", "bob@localhost", "before", "--confirm").status == 0)
            try await bob.has("before", from: "alice@localhost")
            #expect(try bob.kalij("send", "alice@localhost", "answer", "--confirm").status == 0)
            try await alice.has("answer", from: "bob@localhost")
            alice.end()
            try alice.copyDirectory()
            try await alice.ready()
            for number in 0..<5 {
                #expect(try alice.kalij("send", "bob@localhost", "lost \(number)", "--confirm").status == 0)
            }
            try await bob.has("lost 4", from: "alice@localhost")
            alice.kill()
            try alice.restoreDirectory()
            #expect(try bob.kalij("send", "alice@localhost", "meanwhile", "--confirm").status == 0)
            try await alice.ready()
            for number in 0..<5 {
                #expect(try alice.kalij("send", "bob@localhost", "after \(number)", "--confirm").status == 0)
                #expect(try bob.kalij("send", "alice@localhost", "and back \(number)", "--confirm").status == 0)
            }
            try await bob.has("after 4", from: "alice@localhost")
            try await alice.has("and back 4", from: "bob@localhost")
            let restored = try alice.run?.events().filter { $0["event"] as? String == "omemo-restored" } ?? []
            #expect(restored.count == 1, "\(kind): \(restored)")
            let all = try bob.messages()
            #expect(all.allSatisfy { $0.body != nil }, "\(kind): \(all)")
            let archive = try await world.peer("bob").archive()
            let keys = try ArchivedKeys(archive)
            #expect(keys.usedTwice.isEmpty && keys.plain.isEmpty && keys.exposed.isEmpty, "\(kind): \(keys)")
            #expect(Set(keys.counts.keys) == [withVersion2 ? ArchivedKeys.new : ArchivedKeys.old], "\(kind)")
            for user in [alice, bob] { user.end() }
        }
    }

    @Test("logging out takes the device off the list, and its keys from the server; nobody encrypts for it any more")
    func loggedOut() async throws {
        try await World.atEachServer { world in
            let kind = world.server.kind
            let (alice, bob) = (EncryptedUser(world.kalij), try EncryptedUser("bob", world))
            let second = try EncryptedUser("bob", world, directory: "data-bob-2")
            for user in [alice, bob, second] { try await user.ready() }
            second.end()
            let out = try second.kalij("logout", "bob@localhost")
            #expect(out.status == 0, "\(kind): \(out)")
            #expect(try alice.kalij("omemo", "on", "bob@localhost").status == 0)
            #expect(try alice.kalij("send", "bob@localhost", "for one", "--confirm").status == 0)
            try await bob.has("for one", from: "alice@localhost")
            let keys = try alice.kalij("--json", "omemo", "fingerprints", "bob@localhost").objects()
            #expect(keys.count == 1 && keys.first?["trust"] as? String == "blind", "\(kind): \(keys)")
            for user in [alice, bob] { user.end() }
        }
    }

    @Test("a verified key: new keys get nothing until the user decides, and theirs is shown so marked")
    func verified() async throws {
        try await World.atEachServer { world in
            let kind = world.server.kind
            let (alice, bob) = (EncryptedUser(world.kalij), try EncryptedUser("bob", world))
            for user in [alice, bob] { try await user.ready() }
            let uri = try bob.kalij("omemo", "uri").output.trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(try alice.kalij("omemo", "verify", uri).status == 0, "\(kind): \(uri)")
            #expect(try alice.kalij("omemo", "on", "bob@localhost").status == 0)
            #expect(try alice.kalij("send", "bob@localhost", "one", "--confirm").status == 0)
            try await bob.has("one", from: "alice@localhost")
            let second = try EncryptedUser("bob", world, directory: "data-bob-2")
            try await second.ready()
            #expect(try second.kalij("omemo", "on", "alice@localhost").status == 0)
            #expect(try second.kalij("send", "alice@localhost", "from the new one", "--confirm").status == 0)
            try await alice.has("from the new one", from: "bob@localhost")
            #expect(try alice.messages().last?.encryption?["trust"] as? String == "undecided", "\(kind)")
            #expect(try alice.kalij("send", "bob@localhost", "two", "--confirm").status == 0)
            try await bob.has("two", from: "alice@localhost")
            let unread = try await until {
                try second.messages().contains { $0.encryption?["undecryptable"] != nil }
            }
            #expect(unread, "\(kind)")
            let key = try #require(
                second.kalij("--json", "omemo").objects().first?["fingerprint"] as? String, "\(kind)")
            #expect(try alice.kalij("omemo", "trust", "bob@localhost", key).status == 0)
            #expect(try alice.kalij("send", "bob@localhost", "three", "--confirm").status == 0)
            try await second.has("three", from: "alice@localhost")
            for user in [alice, bob, second] { user.end() }
        }
    }
}
