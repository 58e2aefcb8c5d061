import Foundation
import KalijLab
import Testing

/// OMEMO 2 between users of `kalij` and of python-omemo, on both servers.
@Suite(.serialized) struct EncryptionVersion2Tests {
    @Test(
        "text, correction, reply and receipt between four devices: all read all, the archive shows only envelopes"
    )
    func conversation() async throws {
        try await World.atEachServer { world in
            let kind = world.server.kind
            let (alice, bob) = (EncryptedUser(world.kalij), try EncryptedUser("bob", world))
            let second = try EncryptedUser("alice", world, directory: "data-alice-2")
            let users = [alice, second, bob]
            let peer = OMEMOPeer("bob", world, name: "bob-both", .both)
            for user in users { try await user.readyWithVersion2() }
            try peer.begin()
            try await peer.ready()
            func succeeds(_ user: EncryptedUser, _ words: String...) throws {
                let outcome = try user.kalij.run(words)
                #expect(outcome.status == 0, "\(kind): \(words): \(outcome.errors)")
            }
            // Receipts are for contacts; the peer accepts for bob.
            try succeeds(alice, "add", "bob@localhost", "--wait")
            let isAccepted = try await until(every: 100) {
                try ["to", "both"].contains(
                    alice.kalij("--json", "roster").objects().first?["subscription"] as? String)
            }
            #expect(isAccepted, "\(kind)")
            try succeeds(alice, "omemo", "on", "bob@localhost")
            try succeeds(alice, "send", "bob@localhost", "Romeo, Romeo", "--id", "one", "--confirm")
            for user in [second, bob] { try await user.has("Romeo, Romeo", from: "alice@localhost") }
            try await peer.has("Romeo, Romeo")
            try succeeds(alice, "correct", "one", "O Romeo", "--wait")
            for user in [second, bob] { try await user.has("O Romeo", from: "alice@localhost") }
            let correction = try await peer.has("O Romeo")
            #expect(correction["replaces"] as? String == "one", "\(kind): \(correction)")
            try succeeds(bob, "send", "alice@localhost", "here", "--reply", "one", "--confirm")
            for user in [alice, second] { try await user.has("here", from: "bob@localhost") }
            let reply = try await peer.has("> O Romeo\nhere")
            #expect(reply["answers"] as? String == "one", "\(kind): \(reply)")
            try peer.send("from python", to: "alice@localhost")
            for user in users { try await user.has("from python", from: "bob@localhost") }
            for user in users {
                let lines = try user.messages()
                #expect(lines.compactMap(\.body) == ["O Romeo", "here", "from python"], "\(kind): \(lines)")
                #expect(lines.allSatisfy { $0.encryption?["ns"] as? String == ArchivedKeys.new }, "\(kind): \(lines)")
                #expect(lines.allSatisfy { $0.encryption?["undecryptable"] == nil }, "\(kind): \(lines)")
            }
            let isReceived = try await until { try alice.messages().first?.state == "delivered" }
            let lines = try alice.messages()
            #expect(isReceived, "\(kind): the receipt: \(lines)")
            #expect(peer.troubles.isEmpty && peer.unknown == 0, "\(kind): \(peer.troubles)")
            try await check(world.peer("bob").archive(), kind, atLeast: 4)
            for user in users { user.end() }
            try peer.kill()
        }
    }

    /// Only version 2 is in the archive, and its messages show nothing.
    private func check(_ archive: [ArchiveEntry], _ kind: ServerKind, atLeast count: Int) throws {
        let keys = try ArchivedKeys(archive)
        #expect(keys.plain.isEmpty && keys.exposed.isEmpty && keys.usedTwice.isEmpty, "\(kind): \(keys)")
        #expect(Set(keys.counts.keys) == [ArchivedKeys.new] && keys.mixed == 0, "\(kind): \(keys)")
        #expect(keys.count >= count && archive.allSatisfy { $0.body == nil }, "\(kind): \(keys)")
    }

    @Test("a room with two users of kalij and one of python-omemo: all read all, and the archive shows nothing")
    func room() async throws {
        try await World.atEachServer(users: ["alice", "bob", "carol"]) { world in
            let kind = world.server.kind
            let (alice, bob) = (EncryptedUser(world.kalij), try EncryptedUser("bob", world))
            let carol = OMEMOPeer("carol", world, name: "carol", .both)
            for user in [alice, bob] { try await user.readyWithVersion2() }
            try carol.begin()
            try await carol.ready()
            func succeeds(_ user: EncryptedUser, _ words: String...) throws {
                let outcome = try user.kalij.run(words)
                #expect(outcome.status == 0, "\(kind): \(words): \(outcome.errors)")
            }
            try succeeds(alice, "room", "create", "Orchard", "--invite", "bob@localhost,carol@localhost")
            let room = try #require(alice.kalij("--json", "room").objects().first?["room"] as? String)
            try succeeds(bob, "room", "join", room)
            try await carol.join(room, as: "carol")
            try succeeds(alice, "omemo", "on", room)
            try succeeds(alice, "send", room, "for three", "--id", "one", "--confirm")
            try await bob.has("for three", from: room)
            try await carol.has("for three")
            try succeeds(alice, "correct", "one", "for all three", "--wait")
            try await bob.has("for all three", from: room)
            let correction = try await carol.has("for all three")
            #expect(correction["replaces"] as? String == "one", "\(kind): \(correction)")
            try succeeds(bob, "send", room, "an answer", "--reply", "one", "--confirm")
            try await alice.has("an answer", from: room)
            let reply = try await carol.has("> for all three\nan answer")
            #expect(reply["answers"] is String, "\(kind): \(reply)")
            try carol.send("from python", to: room)
            for user in [alice, bob] {
                try await user.has("from python", from: room)
                let lines = try user.messages()
                #expect(
                    lines.compactMap(\.body) == ["for all three", "an answer", "from python"], "\(kind): \(lines)")
                #expect(lines.allSatisfy { $0.encryption?["ns"] as? String == ArchivedKeys.new }, "\(kind): \(lines)")
            }
            #expect(carol.troubles.isEmpty && carol.unknown == 0, "\(kind): \(carol.troubles)")
            try await check(world.peer("bob").archive(of: room), kind, atLeast: 4)
            for user in [alice, bob] { user.end() }
            try carol.kill()
        }
    }

    // MARK: Nodes

    private static let (list, bundles) = ("urn:xmpp:omemo:2:devices", "urn:xmpp:omemo:2:bundles")
    private static let pubsub = "http://jabber.org/protocol/pubsub"

    /// What somebody gets for the items of a node of alice's.
    private func items(of node: String, for user: EncryptedUser) throws -> String {
        let request = "<pubsub xmlns='\(Self.pubsub)'><items node='\(node)'/></pubsub>"
        return try user.kalij("iq", "alice@localhost", request).output
    }

    private func ids(_ items: String) -> Set<String> {
        Set(items.matches(of: #/<item [^>]*?id=['"]([^'"]+)/#).map { String($0.1) })
    }

    private func set(_ user: EncryptedUser, _ request: String) throws {
        let outcome = try user.kalij("iq", "alice@localhost", request, "--set")
        #expect(outcome.status == 0, "\(request): \(outcome)")
    }

    private func field(_ name: String, _ value: String) -> String {
        "<field var='\(name)'><value>\(value)</value></field>"
    }

    /// A node of bundles with one item, for contacts; and a list with a device that has a name.
    private func prepare(_ alice: EncryptedUser) throws {
        let form =
            field("FORM_TYPE", "http://jabber.org/protocol/pubsub#node_config")
            + field("pubsub#access_model", "presence") + field("pubsub#max_items", "1")
        try set(
            alice,
            """
            <pubsub xmlns='\(Self.pubsub)'><create node='\(Self.bundles)'/><configure>\
            <x xmlns='jabber:x:data' type='submit'>\(form)</x></configure></pubsub>
            """)
        try publish(alice, Self.bundles, "31415", "<bundle xmlns='urn:xmpp:omemo:2'/>")
        try publish(
            alice, Self.list, "current",
            "<devices xmlns='urn:xmpp:omemo:2'><device id='31415' label='Balcony' labelsig='c2ln'/></devices>")
    }

    private func publish(_ user: EncryptedUser, _ node: String, _ id: String, _ content: String) throws {
        try set(
            user,
            "<pubsub xmlns='\(Self.pubsub)'><publish node='\(node)'><item id='\(id)'>\(content)</item></publish></pubsub>"
        )
    }

    @Test(
        "two devices' bundles are in one node, also if the node was for one item; names of others stay; `off` and logout leave"
    )
    func nodes() async throws {
        try await World.atEachServer { world in
            let kind = world.server.kind
            let (alice, bob) = (EncryptedUser(world.kalij), try EncryptedUser("bob", world))
            let second = try EncryptedUser("alice", world, directory: "data-alice-2")
            for user in [alice, bob, second] { try await user.ready() }
            try prepare(alice)
            for user in [alice, second, bob] { try await user.readyWithVersion2() }
            let (one, two) = try ("\(alice.device)", "\(second.device)")
            // Anybody may read the node: bob is no contact.
            func published(_ devices: Set<String>, _ why: String) async throws {
                var seen: [String] = []
                let isThere = try await until {
                    let list = try items(of: Self.list, for: bob)
                    seen = try [list, items(of: Self.bundles, for: bob)]
                    let named = Set(list.matches(of: #/<device [^>]*?id=['"]([0-9]+)/#).map { String($0.1) })
                    return ids(seen[1]) == devices.union(["31415"]) && named == devices.union(["31415"])
                }
                #expect(isThere, "\(kind), \(why): \(devices): \(seen)")
                #expect(seen[0].contains("Balcony") && seen[0].contains("c2ln"), "\(kind), \(why): \(seen[0])")
            }
            try await published([one, two], "both")
            #expect(try bob.kalij("omemo", "on", "alice@localhost").status == 0)
            #expect(try bob.kalij("send", "alice@localhost", "in 2", "--confirm").status == 0)
            for user in [alice, second] { try await user.has("in 2", from: "bob@localhost") }
            #expect(try second.kalij("omemo", "version2", "off", "--wait").status == 0)
            try await second.version2(nil)
            try await published([one], "off")
            // The list of the session is old for ten minutes, or until an event comes.
            try await gets(bob, "mixed", alice, second, 1, world)
            #expect(try second.kalij("omemo", "reset", "--wait").status == 0)
            try await second.ready()
            try await second.version2(nil)
            // Whatever the device publishes has left before this message.
            #expect(try second.kalij("send", "bob@localhost", "with a new key", "--confirm").status == 0)
            try await published([one], "a new key, without 2")
            let three = try "\(second.device)"
            #expect(three != two, "\(kind)")
            #expect(try second.kalij("omemo", "version2", "on", "--wait").status == 0)
            try await published([one, three], "on again")
            second.end()
            #expect(try second.kalij("logout", "alice@localhost").status == 0)
            try await published([one], "logged out")
            for user in [alice, bob] { user.end() }
        }
    }

    /// Bob's text is a message with two parts, and both devices read it.
    private func gets(
        _ bob: EncryptedUser, _ text: String, _ alice: EncryptedUser, _ second: EncryptedUser, _ mixed: Int,
        _ world: World
    ) async throws {
        let kind = world.server.kind
        #expect(try bob.kalij("send", "alice@localhost", text, "--confirm").status == 0)
        for user in [alice, second] { try await user.has(text, from: "bob@localhost") }
        let namespaces = try [alice, second].map { try $0.messages().last?.encryption?["ns"] as? String }
        #expect(namespaces == [ArchivedKeys.new, ArchivedKeys.old], "\(kind)")
        let keys = try ArchivedKeys(try await world.peer("bob").archive())
        #expect(keys.mixed == mixed && keys.plain.isEmpty && keys.exposed.isEmpty, "\(kind): \(keys)")
    }
}
