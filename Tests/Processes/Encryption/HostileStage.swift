import Foundation
import KalijLab
import Testing

/// alice and bob with `kalij`; mallory, a contact of alice's who means no good; and the many addresses of a component.
final class HostileStage {
    let world: World
    let alice: EncryptedUser
    let bob: EncryptedUser
    let mallory: RawClient
    let component: RawClient
    let random: RandomChoices
    /// alice's device.
    let device: Int
    /// A contact at the component: alice has written to this address.
    static let contact = "c@push.localhost"
    /// How often damaged messages were sent while alice was online.
    var rounds = 0
    /// What bob has sent.
    private(set) var honest: [String] = []

    init(_ kind: ServerKind, _ test: String) async throws {
        let port = try freePort()
        let users = ["alice", "bob", "mallory"]
        world = try await World(kind, options: ServerOptions(componentPort: port), users: users)
        (alice, bob) = (EncryptedUser(world.kalij), try EncryptedUser("bob", world))
        random = RandomChoices(test, part: kind == .prosody ? 0 : 1)
        mallory = try RawClient("mallory", world)
        component = try RawClient("push.localhost", world, component: port)
        for user in [alice, bob] { try await user.ready() }
        for client in [mallory, component] { try await client.ready() }
        device = try #require(alice.kalij("--json", "omemo").objects().first?["device"] as? Int)
        #expect(try bob.kalij("omemo", "on", "alice@localhost").status == 0)
        #expect(try alice.kalij("add", "mallory@localhost", "--wait").status == 0)
        #expect(try alice.kalij("send", Self.contact, "Hello", "--plain", "--confirm").status == 0)
        try mallory.send("<presence to='alice@localhost' type='subscribed'/>")
        try await mallory.settle()
    }

    func close() {
        for user in [alice, bob] { user.kill() }
        world.close()
    }

    /// Hostile stanzas for alice's device.
    func devices(from sender: String? = nil) -> HostileDevices {
        HostileDevices(random: random, receiver: device, sender: sender)
    }

    /// The keys of alice's device, as everybody gets them.
    func bundle() async throws -> PublishedBundle {
        let node = "eu.siacs.conversations.axolotl.bundles:\(device)"
        let answer = try await mallory.ask(
            "get", "<pubsub xmlns='http://jabber.org/protocol/pubsub'><items node='\(node)'/></pubsub>",
            to: "alice@localhost")
        return try PublishedBundle(answer.xml, device: device)
    }

    /// A message of bob's, which the server has taken.
    func speak() throws {
        honest.append("honest \(honest.count)")
        let outcome = try bob.kalij("send", "alice@localhost", honest[honest.count - 1], "--confirm")
        #expect(outcome.status == 0, "\(world.server.kind): \(outcome)")
    }

    /// Sends all, and returns once the server has them.
    func fire(_ stanzas: [String], by client: RawClient? = nil) async throws {
        let client = client ?? mallory
        for stanza in stanzas { try client.send(stanza) }
        if client === mallory {
            try await client.settle()
        } else {
            _ = try await client.ask("get", "<ping xmlns='urn:xmpp:ping'/>", to: "localhost", from: "x@push.localhost")
        }
    }

    /// All messages of bob's are there, once, in order, and readable.
    func expectHonest() throws {
        let kind = world.server.kind
        let lines = try alice.messages(100_000).filter { $0.from.hasPrefix("bob@") }
        #expect(lines.map(\.body) == honest, "\(kind): \(lines)")
        #expect(lines.allSatisfy { $0.encryption?["undecryptable"] == nil }, "\(kind): \(lines)")
    }

    /// Rows are bounded, whatever comes.
    func expectBounds() async throws {
        let kind = world.server.kind
        // Kept keys are counted every 64 keys.
        for (query, most) in [
            ("SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM omemo_kept GROUP BY session)", 1063),
            ("SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM omemo_kept GROUP BY list)", 5063),
            ("SELECT count(*) FROM omemo_kept", 50_063),
            ("SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM omemo_session GROUP BY peer)", 3),
            ("SELECT count(*) FROM omemo_session WHERE stranger = 1", 200),
            ("SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM omemo_peer GROUP BY list)", 128),
            ("SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM omemo_trust GROUP BY jid)", 256),
            ("SELECT count(*) FROM omemo_owed", 128), ("SELECT count(*) FROM request", 64),
            ("SELECT count(*) FROM quarantine", 1),
        ] {
            let number = try await world.sql(query).trimmingCharacters(in: .whitespacesAndNewlines)
            print("\(kind): \(number) of \(most): \(query)")
            #expect(try #require(Int(number)) <= most, "\(kind): \(query)")
        }
    }

    /// Prints the steps that took over 100 ms: on a busy machine those are any.
    func printSteps(_ events: [[String: Any]]) {
        let slow = events.filter { $0["event"] as? String == "slow_step" }
        print("\(world.server.kind): \(slow.count) slow steps: \(slow.prefix(3))")
    }

    /// Runs `wake` to its end, and looks all the time at what the process has of its own (RssAnon): the system keeps no peak of this, and
    /// the peak that it keeps counts the page cache.
    /// - Returns: the output, the largest RssAnon seen, in kB, and the seconds.
    func wake() async throws -> (output: String, peak: Int, seconds: Double) {
        let start = Date()
        let run = try world.kalij.begun(["--json", "wake", "--budget", "600"])
        var (peak, looks) = (0, 0)
        while run.isRunning {
            let status = (try? String(contentsOfFile: "/proc/\(run.pid)/status", encoding: .utf8)) ?? ""
            // A process that has ended has none.
            if let own = status.firstMatch(of: /RssAnon:\s+(\d+)/).flatMap({ Int($0.output.1) }) {
                peak = max(peak, own)
                looks += 1
            }
            try await sleep(for: .milliseconds(2))
        }
        #expect(looks > 0, "the process was not seen")
        return (try run.output, peak, Date().timeIntervalSince(start))
    }
}
