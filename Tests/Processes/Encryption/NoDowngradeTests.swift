import Foundation
import Glibc
import KalijLab
import TestSupport
import Testing

/// A text of an encrypted conversation never leaves in plain, whatever others and the user do between accepting and sending.
@Suite(.serialized) struct NoDowngradeTests {
    /// `Scripts/long no-downgrade 10000` gives the long form: so many texts at each server.
    private let count = LongForm.amount("no-downgrade", short: 120)

    @Test(
        "lists are deleted, keys and the setting are changed, processes are killed: each text is sealed, or failed with a reason, and none is on the server in plain"
    )
    func neverPlain() async throws {
        try await World.atEachServer { world in try await run(world) }
    }

    private func run(_ world: World) async throws {
        let kind = world.server.kind
        let random = RandomChoices("no downgrade", part: kind == .prosody ? 0 : 1)
        let (alice, bob) = (EncryptedUser(world.kalij), try EncryptedUser("bob", world))
        for user in [alice, bob] { try await user.ready() }
        let raw = try RawClient("bob", world)
        try await raw.ready()
        #expect(try alice.kalij("omemo", "on", "bob@localhost").status == 0)
        // What is not encrypted is found where the texts are looked for.
        let control = "Control\(UInt64.random(in: 0...UInt64.max))Plain"
        #expect(try alice.kalij("send", "bob@localhost", control, "--plain", "--confirm").status == 0)
        let trouble = Trouble(alice: alice, bob: bob, raw: raw, random: random)
        let texts = Texts(alice: alice, random: random)
        var hasBegun = false
        while texts.bodies.count < count {
            try await texts.accept(min(random.number(3...max(15, count / 25)), count - texts.bodies.count))
            // The first texts arrive: what comes between the others may keep all of them from leaving.
            if !hasBegun {
                hasBegun = try await until(every: 100) {
                    try alice.messages(count + 10).contains {
                        $0.state == "acked" && $0.body?.hasPrefix(texts.marker) ?? false
                    }
                }
            }
            try await trouble.make(betweenTexts: texts.bodies.count)
        }
        try await trouble.end()
        var lines: [EncryptedUser.Line] = []
        let isDone = try await until(every: 300) {
            lines = try alice.messages(count + 10).filter { $0.body?.hasPrefix(texts.marker) ?? false }
            return lines.allSatisfy { $0.state == "failed" || $0.state == "acked" || $0.state == "stored" }
        }
        let pending = lines.filter { $0.state != "failed" && $0.state != "acked" && $0.state != "stored" }
        #expect(isDone, "\(kind): \(pending.prefix(3))")
        #expect(lines.compactMap(\.body).sorted() == texts.bodies.sorted(), "\(kind)")
        let failed = lines.filter { $0.state == "failed" }
        #expect(failed.allSatisfy { !($0.error ?? "").isEmpty }, "\(kind): \(failed)")
        #expect(
            lines.allSatisfy { $0.encryption?["ns"] != nil && $0.encryption?["plain"] == nil }, "\(kind): \(lines)")
        let sealed = lines.filter { $0.state != "failed" }
        let (ids, all) = (Set(sealed.map(\.id)), Set(lines.map(\.id)))
        try await expectNothingPlain(world, texts, control, raw, sealed: ids, all: all)
        let read = try bob.messages(count + 10).filter { $0.body?.hasPrefix(texts.marker) ?? false }
        let reasons = Dictionary(grouping: failed) { ($0.error ?? "").prefix(60) }.mapValues(\.count)
        print(
            "\(kind): \(lines.count) texts: \(failed.count) failed, \(reasons), bob has read \(read.count); \(trouble.made)"
        )
        #expect(failed.count < lines.count && read.count > 0, "\(kind)")
        for user in [alice, bob] { user.end() }
    }

    /// The ids of the encrypted messages of an archive. One for devices of OMEMO 2 alone has no body.
    private static func ids(_ archive: [ArchiveEntry]) -> Set<String> {
        let messages = archive.filter { entry in entry.encrypted.contains { !$0.keys.isEmpty } }
        return Set(messages.compactMap { $0.originID ?? $0.id })
    }

    /// Looks for the texts in the archives, in what bob's other client got, and in all files of the server.
    private func expectNothingPlain(
        _ world: World, _ texts: Texts, _ control: String, _ raw: RawClient, sealed: Set<String>, all: Set<String>
    ) async throws {
        let kind = world.server.kind
        // A busy server archives late.
        var archives: [[ArchiveEntry]] = []
        _ = try await until(every: 500) {
            archives = try await [world.peer("alice").archive(), world.peer("bob").archive()]
            return Self.ids(archives[0]).isSuperset(of: sealed)
        }
        for archive in archives {
            #expect(!archive.contains { $0.body?.contains(texts.marker) ?? false }, "\(kind)")
            #expect(archive.contains { $0.body == control }, "\(kind)")
        }
        let archived = Self.ids(archives[0]).intersection(all)
        let (missing, more) = (sealed.subtracting(archived), archived.subtracting(sealed))
        #expect(missing.isEmpty, "\(kind): sealed, and not archived: \(missing)")
        #expect(more.isEmpty, "\(kind): failed, and archived: \(more)")
        let bare = archives[0].count { sealed.contains($0.originID ?? $0.id ?? "") && $0.body == nil }
        print("\(kind): \(sealed.count) texts were sealed, \(bare) of them for devices of OMEMO 2 alone")
        let got = try raw.stanzas.filter { $0.xml.contains(texts.marker) }
        #expect(got.isEmpty, "\(kind): \(got.prefix(2))")
        let seen = try raw.stanzas.contains { $0.xml.contains(control) }
        #expect(seen, "\(kind)")
        let folder = world.laboratory.path(kind.rawValue)
        for (text, isThere) in [(control, true), (texts.marker, false)] {
            let found = try await world.laboratory.run(
                "/bin/sh", ["-c", "grep -rlaF \"$1\" \"$2\" || true", "sh", text, folder])
            #expect(found.isEmpty != isThere, "\(kind): \(text): \(found)")
        }
    }
}

/// The texts that are accepted, in all ways.
private final class Texts {
    let marker = "Marker\(UInt64.random(in: 0...UInt64.max))Text"
    private(set) var bodies: [String] = []
    private let alice: EncryptedUser
    private let random: RandomChoices

    init(alice: EncryptedUser, random: RandomChoices) { (self.alice, self.random) = (alice, random) }

    /// Accepts texts: by `share` alone while nobody drives or beside the driver, or by lines of `run`.
    func accept(_ count: Int) async throws {
        let isByLines = alice.run != nil && random.flip()
        // A process for each text takes much longer than a line.
        for _ in 0..<(isByLines ? count : min(count, 20)) {
            let body = "\(marker) \(bodies.count)"
            if isByLines, let run = alice.run {
                try run.process.write(
                    line: "{\"command\":\"send\",\"to\":\"bob@localhost\",\"body\":\"\(body)\",\"id\":\(bodies.count)}")
            } else {
                let outcome = try alice.kalij("send", "bob@localhost", body, "--queue-only")
                #expect(outcome.status == 0, "\(outcome)")
            }
            bodies.append(body)
        }
        guard isByLines, let run = alice.run else { return }
        let last = bodies.count - 1
        try await run.event("accepted") { $0["id"] as? Int == last }
    }
}

/// What happens between accepting and sending.
private final class Trouble {
    private let alice: EncryptedUser
    private let bob: EncryptedUser
    private let keys: HostileKeys
    private let raw: RawClient
    private let random: RandomChoices
    private(set) var made: [String: Int] = [:]

    init(alice: EncryptedUser, bob: EncryptedUser, raw: RawClient, random: RandomChoices) {
        (self.alice, self.bob, self.raw, self.random) = (alice, bob, raw, random)
        keys = HostileKeys(raw)
    }

    private static let kinds = [
        "kill", "end", "begin", "empty list", "deleted list", "other keys", "own list", "off and on", "version 2",
        "wake",
        "distrust", "bob is away", "bob's version 2", "reset", "right list", "right list", "right list", "right list",
    ]

    func make(betweenTexts number: Int) async throws {
        let kind = try #require(random.one(of: Self.kinds))
        made[kind, default: 0] += 1
        switch kind {
        case "kill": alice.kill()
        case "end": if alice.run != nil { alice.end() }
        case "begin": if alice.run == nil { try await alice.begin() }
        case "empty list": try await keys.list([])
        case "deleted list": try await delete()
        case "other keys": try await otherKeys()
        case "own list": try await keys.list([number + 1, number + 2])
        case "off and on": try await offAndOn()
        case "version 2": try version(alice)
        case "right list": try await rightList()
        case "wake": if alice.run == nil { _ = try alice.kalij("wake") }
        case "distrust": try distrust()
        case "bob is away":
            bob.kill()
            try await bob.begin()
        case "bob's version 2": try version(bob)
        default: #expect(try bob.kalij("omemo", "reset", "--queue-only").status == 0)
        }
        if alice.run == nil, random.number(0...2) == 0 { try await alice.begin() }
        try await sleep(for: random.milliseconds(0...150))
    }

    /// Everything is as it should be, and everything leaves.
    func end() async throws {
        if alice.run == nil { try await alice.begin() }
        #expect(try alice.kalij("omemo", "version2", "off").status == 0)
    }

    /// Whoever has removed bob's device puts the device back: bob himself does this five times an hour.
    private func rightList() async throws {
        guard let device = try bob.kalij("--json", "omemo").objects().first?["device"] as? Int else { return }
        try await keys.list([device])
        for key in try alice.kalij("--json", "omemo", "fingerprints", "bob@localhost").objects() {
            guard let key = key["fingerprint"] as? String else { continue }
            #expect(try alice.kalij("omemo", "trust", "bob@localhost", key, "--queue-only").status == 0)
        }
    }

    private func delete() async throws {
        let owner = "http://jabber.org/protocol/pubsub#owner"
        for node in ["eu.siacs.conversations.axolotl.devicelist", "urn:xmpp:omemo:2:devices"] {
            _ = try await raw.ask("set", "<pubsub xmlns='\(owner)'><delete node='\(node)'/></pubsub>")
        }
    }

    /// The server, or another client, puts other keys under the ids of bob's devices.
    private func otherKeys() async throws {
        guard let device = try bob.kalij("--json", "omemo").objects().first?["device"] as? Int else { return }
        try await keys.bundle(device, BundleText())
        try await keys.bundle(device + 1, BundleText())
        try await keys.list([device, device + 1])
        _ = try alice.kalij("omemo", "heal", "bob@localhost", "--queue-only")
    }

    /// The setting is another one when the texts leave; not when they are accepted.
    private func offAndOn() async throws {
        #expect(try alice.kalij("omemo", "off", "bob@localhost").status == 0)
        if random.flip() {
            alice.kill()
            try await alice.begin()
        } else if alice.run == nil {
            _ = try alice.kalij("flush")
        }
        try await sleep(for: random.milliseconds(0...600))
        #expect(try alice.kalij("omemo", "on", "bob@localhost").status == 0)
        let isOn = try await until {
            let conversations = try alice.kalij("--json", "omemo").objects().first?["conversations"] as? [String]
            return conversations?.contains("bob@localhost") ?? false
        }
        #expect(isOn)
    }

    private func version(_ user: EncryptedUser) throws {
        #expect(try user.kalij("omemo", "version2", random.flip() ? "on" : "off", "--queue-only").status == 0)
    }

    private func distrust() throws {
        let known = try alice.kalij("--json", "omemo", "fingerprints", "bob@localhost").objects()
        guard let key = random.one(of: known.compactMap { $0["fingerprint"] as? String }) else { return }
        #expect(try alice.kalij("omemo", "distrust", "bob@localhost", key, "--queue-only").status == 0)
    }
}
