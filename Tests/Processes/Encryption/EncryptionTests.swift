import Foundation
import KalijLab
import Testing

/// Encrypted conversations between users of `kalij`, on both servers.
@Suite(.serialized) struct EncryptionTests {
    @Test(
        "two people, three devices: the conversation is encrypted from the first message on, both ways, and never plain again"
    )
    func conversation() async throws {
        try await World.atEachServer { world in
            let kind = world.server.kind
            let bob = try EncryptedUser("bob", world)
            let second = try EncryptedUser("alice", world, directory: "data-alice-2")
            let alice = EncryptedUser(world.kalij)
            for user in [alice, bob, second] { try await user.ready() }
            #expect(try alice.kalij("omemo", "on", "bob@localhost").status == 0, "\(kind)")
            let sent = try alice.kalij("send", "bob@localhost", "But soft", "--confirm")
            #expect(sent.status == 0, "\(kind): \(sent.errors)")
            try await bob.has("But soft", from: "alice@localhost")
            try await second.has("But soft", from: "alice@localhost")
            // Bob answers encrypted without a command.
            #expect(try bob.kalij("send", "alice@localhost", "She speaks", "--confirm").status == 0, "\(kind)")
            try await alice.has("She speaks", from: "bob@localhost")
            try await second.has("She speaks", from: "bob@localhost")
            for number in 0..<5 {
                #expect(try second.kalij("send", "bob@localhost", "from the other \(number)", "--confirm").status == 0)
            }
            try await bob.has("from the other 4", from: "alice@localhost")
            try await alice.has("from the other 4", from: "alice@localhost")
            for user in [alice, bob, second] {
                let messages = try user.messages()
                #expect(
                    messages.map(\.body) == ["But soft", "She speaks"] + (0..<5).map { "from the other \($0)" },
                    "\(kind)")
                #expect(messages.allSatisfy { $0.encryption?["ns"] as? String == "eu.siacs.conversations.axolotl" })
                #expect(messages.allSatisfy { $0.encryption?["undecryptable"] == nil }, "\(kind): \(messages)")
            }
            #expect(try bob.messages()[0].encryption?["trust"] as? String == "blind", "\(kind)")
            for user in [alice, bob, second] { user.end() }
        }
    }
}
