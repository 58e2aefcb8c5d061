import Foundation
import Glibc
import KalijLab
import TestSupport
import Testing

/// Users of `kalij` under kills, with somebody who uses a different implementation, python-omemo.
@Suite(.serialized) struct EncryptionPeerKillTests {
    /// `Scripts/long encryption-peer-kills 500` gives the long form: so many kills at each server, with each version.
    private let kills = LongForm.amount("encryption-peer-kills", short: 6)

    @Test(
        "`run`, `wake` and `send` are killed while alice's two devices and bob's two of python-omemo write: each device has each text once, readable, and no key is used twice"
    )
    func killed() async throws {
        try await World.atEachServer { world in try await run(world, [.old, .old]) }
    }

    @Test(
        "the same with OMEMO 2, and devices of bob's that read 2, both, and 0.3: each has each text of its version once"
    )
    func killedWithVersion2() async throws {
        try await World.atEachServer { world in try await run(world, [.new, .both, .old]) }
    }

    private func run(_ world: World, _ formats: [OMEMOPeer.Formats]) async throws {
        let kind = world.server.kind
        let random = RandomChoices("encrypted with python-omemo, killed", part: kind == .prosody ? 0 : 1)
        let bob = "bob@localhost"
        let users = [EncryptedUser(world.kalij), try EncryptedUser("alice", world, directory: "data-alice-2")]
        let peers = formats.enumerated().map { OMEMOPeer("bob", world, name: "bob-\($0)", $1) }
        for user in users {
            if formats.contains(.new) { try await user.readyWithVersion2() } else { try await user.ready() }
            #expect(try user.kalij("omemo", "on", bob, "--wait").status == 0)
        }
        for peer in peers {
            try peer.begin()
            try await peer.ready()
        }
        let talk = Talk(kind, users, peers)
        // Sessions first, one after the other: python-omemo loses both sessions if two key exchanges cross.
        for (place, user) in users.enumerated() {
            talk.texts.append("hello of device \(place)")
            #expect(try user.kalij("send", bob, talk.texts[talk.texts.count - 1], "--confirm").status == 0)
            try await talk.arrived()
        }
        for place in peers.indices {
            try talk.write(place, "hello of peer \(place)")
            try await talk.arrived()
        }
        var killed: [String: Int] = [:]
        for number in 0..<kills {
            for (place, user) in users.enumerated() {
                talk.texts.append("text \(number) of device \(place)")
                let sent = try user.kalij("send", bob, talk.texts[talk.texts.count - 1], "--queue-only")
                #expect(sent.status == 0)
            }
            for place in peers.indices { try talk.write(place, "text \(number) of peer \(place)") }
            try await sleep(for: random.milliseconds(0...700))
            killed[try await kill(users, number, random, talk), default: 0] += 1
            guard number % 4 == 3 else { continue }
            let peer = peers[random.number(0...peers.count - 1)]
            try peer.kill()
            try peer.begin()
        }
        try await talk.arrived()
        // What comes twice comes before these.
        for (place, user) in users.enumerated() {
            talk.texts.append("last of device \(place)")
            #expect(try user.kalij("send", bob, talk.texts[talk.texts.count - 1], "--queue-only").status == 0)
        }
        for place in peers.indices { try talk.write(place, "last of peer \(place)") }
        try await talk.arrived()
        try talk.check()
        let archives = try await [world.peer("alice").archive(), world.peer("bob").archive()]
        let keys = try ArchivedKeys(archives.flatMap { $0 })
        #expect(keys.plain.isEmpty, "\(kind): \(keys.plain)")
        #expect(keys.exposed.isEmpty, "\(kind): \(keys.exposed)")
        #expect(keys.usedTwice.isEmpty, "\(kind): \(keys.usedTwice)")
        #expect((keys.mixed > 0) == formats.contains(.new), "\(kind): \(keys.mixed)")
        print(
            "\(kind): killed \(killed), \(talk.texts.count) texts on \(users.count + peers.count) devices,",
            "keys in the archives: \(keys.counts), \(keys.mixed) messages for both versions")
        for user in users { user.end() }
        for peer in peers { try peer.kill() }
    }

    /// - Returns: what was killed.
    private func kill(
        _ users: [EncryptedUser], _ number: Int, _ random: RandomChoices, _ talk: Talk
    ) async throws -> String {
        let place = random.number(0...1)
        let victim = users[place]
        let kill = number % 3
        if kill == 0 { victim.kill() } else { victim.end() }
        if kill > 0 {
            let text = "text \(number) of the killed \(place)"
            let words = kill == 1 ? ["wake"] : ["send", "bob@localhost", text, "--id", text.replacing(" ", with: "-")]
            let process = try victim.kalij.begun(words)
            try await sleep(for: random.milliseconds(0...900))
            process.process.signal(SIGKILL)
            process.process.ended()
            // Whether it was accepted is unknown: the second with the same id is not sent.
            if kill == 2 {
                talk.texts.append(text)
                let again = try victim.kalij.run(words + ["--queue-only"])
                #expect(again.status == 0, "\(talk.kind): \(again)")
            }
        }
        try await victim.begin()
        return ["run", "wake", "send"][kill]
    }
}

/// The texts of alice's and bob's devices, and the devices that can read each text.
private final class Talk {
    let kind: ServerKind
    let users: [EncryptedUser]
    let peers: [OMEMOPeer]
    var texts: [String] = []
    /// Who has written a text, if a peer has.
    private var writers: [String: Int] = [:]

    init(_ kind: ServerKind, _ users: [EncryptedUser], _ peers: [OMEMOPeer]) {
        (self.kind, self.users, self.peers) = (kind, users, peers)
    }

    func write(_ place: Int, _ text: String) throws {
        texts.append(text)
        writers[text] = place
        try peers[place].send(text, to: "alice@localhost")
    }

    /// The texts of others that the peer can read.
    private func readable(by place: Int) -> [String] {
        texts.filter { text in
            guard let writer = writers[text] else { return true }
            return writer != place && peers[place].formats.reads(peers[writer].formats)
        }
    }

    private func missing() throws -> [String] {
        let here = try users.map { try (texts, Set($0.messages().compactMap(\.body))) }
        let there = peers.indices.map { (readable(by: $0), Set(peers[$0].bodies)) }
        return (here + there).enumerated().flatMap { place, both in
            both.0.filter { !both.1.contains($0) }.map { "device \(place): \($0)" }
        }
    }

    func arrived() async throws {
        let isDone = try await until(every: 200) {
            for peer in peers { try peer.goOn() }
            return try missing().isEmpty
        }
        let still = try missing()
        let faults = peers.compactMap(\.fault)
        #expect(isDone, "\(kind): \(still.count) have not arrived: \(still.prefix(20)); \(faults)")
    }

    /// Each device has each text once, readable.
    func check() throws {
        for (place, user) in users.enumerated() {
            let lines = try user.messages()
            let unread = lines.filter { $0.encryption?["undecryptable"] != nil || $0.encryption?["ns"] == nil }
            #expect(unread.isEmpty, "\(kind), device \(place): \(unread)")
            #expect(differences(lines.compactMap(\.body), texts) == [], "\(kind), device \(place)")
        }
        for (place, peer) in peers.enumerated() {
            let wanted = readable(by: place)
            #expect(peer.troubles.isEmpty, "\(kind), peer \(place): \(peer.troubles)")
            #expect(differences(peer.bodies, wanted) == [], "\(kind), peer \(place)")
            let others = texts.count { writers[$0] != place } - wanted.count
            #expect(peer.unknown == others, "\(kind), peer \(place): messages in an unknown version")
        }
    }

    /// The texts that are not there once, and how often they are there.
    private func differences(_ found: [String], _ wanted: [String]) -> [String] {
        let counts = Dictionary(found.map { ($0, 1) }, uniquingKeysWith: +)
        return Set(found + wanted).filter { counts[$0] != 1 || !wanted.contains($0) }
            .map { "\($0): \(counts[$0] ?? 0) times" }.sorted()
    }
}
