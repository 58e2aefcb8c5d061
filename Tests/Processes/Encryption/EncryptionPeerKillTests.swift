import Foundation
import Glibc
import KalijLab
import Testing

/// Users of `kalij` under kills, with somebody who uses a different implementation, python-omemo.
@Suite(.serialized) struct EncryptionPeerKillTests {
    /// `OMEMO_KILLS=500` gives the long form.
    private let kills = Int(ProcessInfo.processInfo.environment["OMEMO_KILLS"] ?? "") ?? 10

    @Test(
        "`run`, `wake` and `send` are killed while alice's two devices and bob's two of python-omemo write: each device has each text once, readable, and no key is used twice"
    )
    func killed() async throws {
        try await World.atEachServer { world in try await run(world) }
    }

    private func run(_ world: World) async throws {
        let kind = world.server.kind
        let random = RandomChoices("encrypted with python-omemo, killed", part: kind == .prosody ? 0 : 1)
        let (alice, bob) = ("alice@localhost", "bob@localhost")
        let users = [EncryptedUser(world.kalij), try EncryptedUser("alice", world, directory: "data-alice-2")]
        let peers = [OMEMOPeer("bob", world, name: "bob-1"), OMEMOPeer("bob", world, name: "bob-2")]
        for user in users {
            try await user.ready()
            #expect(try user.kalij("omemo", "on", bob, "--wait").status == 0)
        }
        for peer in peers {
            try peer.begin()
            try await peer.ready()
        }
        var texts: [String] = []
        var own = [[], []] as [[String]]
        func missing() throws -> [String] {
            let here = try users.map { try Set($0.messages().compactMap(\.body)) }
            let there = peers.enumerated().map { Set($1.bodies + own[$0]) }
            return (here + there).enumerated().flatMap { place, has in
                texts.filter { !has.contains($0) }.map { "device \(place): \($0)" }
            }
        }
        func write(_ place: Int, _ text: String) throws {
            texts.append(text)
            own[place].append(text)
            try peers[place].send(text, to: alice)
        }
        func arrived(_ seconds: Double) async throws {
            let isDone = try await until(seconds, every: 500) { try missing().isEmpty }
            let still = try missing()
            #expect(isDone, "\(kind): \(still.count) have not arrived within \(seconds) s: \(still.prefix(20))")
        }
        // Sessions first, one after the other: python-omemo loses both sessions if two key exchanges cross.
        for (place, user) in users.enumerated() {
            texts.append("hello of device \(place)")
            #expect(try user.kalij("send", bob, texts[texts.count - 1], "--confirm").status == 0)
            try await arrived(60)
        }
        for place in 0...1 {
            try write(place, "hello of peer \(place)")
            try await arrived(60)
        }
        var killed: [String: Int] = [:]
        for number in 0..<kills {
            for (place, user) in users.enumerated() {
                texts.append("text \(number) of device \(place)")
                #expect(try user.kalij("send", bob, texts[texts.count - 1], "--queue-only").status == 0)
            }
            for place in 0...1 { try write(place, "text \(number) of peer \(place)") }
            try await Task.sleep(for: random.milliseconds(0...700))
            let place = random.number(0...1)
            let victim = users[place]
            let kill = number % 3
            if kill == 0 { victim.kill() } else { victim.end() }
            if kill > 0 {
                let text = "text \(number) of the killed \(place)"
                let words = kill == 1 ? ["wake"] : ["send", bob, text, "--id", text.replacing(" ", with: "-")]
                let process = try victim.kalij.begun(words)
                try await Task.sleep(for: random.milliseconds(0...900))
                process.process.signal(SIGKILL)
                process.process.ended(within: 10)
                // Whether it was accepted is unknown: the second with the same id is not sent.
                if kill == 2 {
                    texts.append(text)
                    let again = try victim.kalij.run(words + ["--queue-only"])
                    #expect(again.status == 0, "\(kind): \(again)")
                }
            }
            killed[["run", "wake", "send"][kill], default: 0] += 1
            try await victim.begin()
            guard number % 4 == 3 else { continue }
            let peer = peers[random.number(0...1)]
            try peer.kill()
            try peer.begin()
        }
        try await arrived(Double(120 + kills))
        try await Task.sleep(for: .seconds(2))
        for (place, user) in users.enumerated() {
            let lines = try user.messages()
            let unread = lines.filter { $0.encryption?["undecryptable"] != nil || $0.encryption?["ns"] == nil }
            #expect(unread.isEmpty, "\(kind), device \(place): \(unread)")
            #expect(differences(lines.compactMap(\.body), texts) == [], "\(kind), device \(place)")
        }
        for (place, peer) in peers.enumerated() {
            #expect(peer.troubles.isEmpty, "\(kind), peer \(place): \(peer.troubles)")
            #expect(differences(peer.bodies + own[place], texts) == [], "\(kind), peer \(place)")
        }
        let archives = try await [world.peer("alice").archive(), world.peer("bob").archive()]
        let keys = try ArchivedKeys(archives.flatMap { $0 })
        #expect(keys.plain.isEmpty, "\(kind): \(keys.plain)")
        #expect(keys.usedTwice.isEmpty, "\(kind): \(keys.usedTwice)")
        print("\(kind): killed \(killed), \(texts.count) texts on 4 devices, \(keys.count) keys in the archives")
        for user in users { user.end() }
        for peer in peers { try peer.kill() }
    }

    /// The texts that are not there once, and how often they are there.
    private func differences(_ found: [String], _ wanted: [String]) -> [String] {
        let counts = Dictionary(found.map { ($0, 1) }, uniquingKeysWith: +)
        return Set(found + wanted).filter { counts[$0] != 1 }.map { "\($0): \(counts[$0] ?? 0) times" }.sorted()
    }
}
