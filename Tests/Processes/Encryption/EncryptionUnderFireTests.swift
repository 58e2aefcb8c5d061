import Foundation
import KalijLab
import TestSupport
import Testing

/// A hostile contact and hostile strangers beside an honest contact. What the process itself has of memory is bounded; times are printed.
@Suite(.serialized) struct EncryptionUnderFireTests {
    /// `Scripts/long encryption-under-fire` gives the long form.
    private let isLong = LongForm.runs("encryption-under-fire")

    /// In kB, of RssAnon.
    private static let most = 9 * 1024

    @Test(
        "a hostile contact, full sessions, damaged keys, strangers: wake stays within 9 MB of its own, and what an honest contact writes is read",
        arguments: LongForm.servers)
    func waking(_ kind: ServerKind) async throws {
        let stage = try await HostileStage(kind, "under fire")
        defer { stage.close() }
        stage.alice.end()
        try stage.speak()
        try await attack(stage)
        try stage.speak()
        let (output, peak, seconds) = try await stage.wake()
        let events = output.split(separator: "\n").compactMap {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
        let shown = events.filter { $0["event"] as? String == "notification" && $0["kind"] as? String == "show" }
        print("\(kind): wake under fire: RssAnon \(peak) kB, \(shown.count) notifications, \(seconds) s")
        #expect(peak <= Self.most)
        stage.printSteps(events)
        let bodies = shown.compactMap { $0["body"] as? String }
        #expect(bodies.filter { $0.hasPrefix("honest") } == stage.honest, "\(kind): \(bodies)")
        try stage.expectHonest()
        try await stage.expectBounds()
        // Everything counts as handled: nothing comes again.
        let again = try await stage.wake()
        #expect(!again.output.contains("\"kind\":\"show\""), "\(kind): \(again.output.prefix(2000))")
        #expect(again.peak <= Self.most)
        try await live(stage)
        // For its list the address was asked when a message could not be read, not by each message.
        let questions = try stage.component.stanzas.count { $0.type == "get" }
        print("\(kind): \(questions) questions by \(stage.rounds + 1) readings of damaged messages")
        #expect(questions <= 2 * (stage.rounds + 1), "\(kind)")
    }

    /// Waits on the server for alice.
    private func attack(_ stage: HostileStage) async throws {
        var bundle = try await stage.bundle()
        let same = try bundle.same()
        let devices = stage.devices()
        var stanzas: [String] = []
        // More than three sessions of a device, more than 5,000 keys of an address.
        for number in 0..<45 {
            stanzas += try devices.full(bundle.next(), device: 1000 + number % 41, more: number < 3)
        }
        stanzas += try devices.wrong(bundle.next())
        try stage.speak()
        try await stage.fire(stanzas)
        try stage.speak()
        let count = isLong ? 2500 : 400
        try await stage.fire(stanzas.prefix(40) + devices.damaged(count, same))
        try await stage.fire(stage.devices(from: HostileStage.contact).damaged(count, same), by: stage.component)
        try stage.speak()
        var strangers: [String] = []
        for number in 0..<30 {
            let stranger = stage.devices(from: "s\(number)@push.localhost/x")
            strangers.append(try stranger.first("stranger \(number)", bundle.next(), device: 7))
        }
        try await stage.fire(strangers, by: stage.component)
    }

    /// The same while alice is online: bob's messages arrive in between.
    private func live(_ stage: HostileStage) async throws {
        let kind = stage.world.server.kind
        try await stage.alice.ready()
        let run = try #require(stage.alice.run)
        let calm = try await delay(stage, run)
        var times: [Double] = []
        for round in 0..<(isLong ? 10 : 2) {
            var bundle = try await stage.bundle()
            let devices = stage.devices()
            var stanzas: [String] = []
            for number in 0..<20 {
                stanzas += try devices.full(bundle.next(), device: 3000 + 100 * round + number)
            }
            stanzas += try devices.wrong(bundle.next()) + devices.damaged(isLong ? 1000 : 300, bundle.next())
            for stanza in stanzas { try stage.mallory.send(stanza) }
            for _ in 0..<3 { times.append(try await delay(stage, run)) }
            try await stage.mallory.settle()
            let damaged = try stage.devices(from: HostileStage.contact).damaged(100, bundle.next())
            try await stage.fire(damaged, by: stage.component)
            stage.rounds += 1
            times.append(try await delay(stage, run))
        }
        let own = try run.procStatus("RssAnon")
        print("\(kind): online under fire: RssAnon \(own) kB, \(calm) s in calm, \(times) s under fire")
        #expect(own <= Self.most, "\(kind)")
        stage.printSteps(try run.events())
        try stage.expectHonest()
        try await stage.expectBounds()
        stage.alice.end()
    }

    /// How long a message of bob's takes to alice.
    private func delay(_ stage: HostileStage, _ run: Running) async throws -> Double {
        let start = Date()
        try stage.speak()
        let body = stage.honest[stage.honest.count - 1]
        try await run.event("message") { $0["body"] as? String == body }
        return Date().timeIntervalSince(start)
    }

    @Test(
        "a list of 5,000 devices, a bundle of 50,000 prekeys, bad signatures and keys: what is sent fails or leaves, and says whom not to",
        arguments: LongForm.servers)
    func sending(_ kind: ServerKind) async throws {
        let stage = try await HostileStage(kind, "hostile lists")
        defer { stage.close() }
        let (alice, to) = (stage.alice.kalij, "mallory@localhost")
        let run = try #require(stage.alice.run)
        #expect(try alice("omemo", "on", to).status == 0)
        let keys = HostileKeys(stage.mallory)
        try await keys.list(Array(1...5000))
        // No device has keys.
        let failed = try sent("for nobody", stage)
        try await stage.alice.fails("for nobody", because: "has no usable keys")
        print("\(kind): without any keys failed within \(failed) s")
        try await run.event("state") { $0["body"] as? String == "for nobody" && $0["state"] as? String == "failed" }

        // A few of 64 have. With 10,000 prekeys a bundle is too long for ejabberd, and with 50,000 for an answer that is read.
        try await keys.hostileBundles(10_001)
        try await keys.bundle(10_030, BundleText(prekeys: 100))
        var usable = [10_030]
        for (device, count) in [(10_031, 2000), (10_032, 10_000)] {
            if try await keys.largeBundle(device, prekeys: count) { usable.append(device) }
        }
        let isLarge = try await keys.largeBundle(10_033, prekeys: 50_000)
        #expect(isLarge == (kind == .prosody))
        // The long form waits until nobody answers any more.
        let listed = isLong ? 10_030...10_033 : 10_030...10_032
        try await keys.list(Array(10_001...10_020) + listed + Array(1...4980))
        let left = try sent("for a few", stage)
        try await run.event("state") {
            $0["body"] as? String == "for a few" && $0["state"] as? String == "acked"
        }
        let line = try #require(try stage.alice.messages().first { $0.body == "for a few" })
        let out = line.encryption?["left_out"] as? [String] ?? []
        print("\(kind): left within \(left) s without \(out.count) devices")
        #expect(out.count == 64 - usable.count && out.contains("mallory@localhost/10001"), "\(kind): \(out)")
        let sealed = try await stage.world.peer("mallory").archive().flatMap(\.encrypted)
        #expect(sealed.map { $0.keys.map(\.device) } == [usable], "\(kind): \(sealed)")
        stage.printSteps(try run.events())
        try stage.speak()
        try await run.event("message") { $0["body"] as? String == stage.honest.last }
        let own = try run.procStatus("RssAnon")
        print("\(kind): online with hostile lists: RssAnon \(own) kB")
        #expect(own <= Self.most, "\(kind)")
        try await stage.expectBounds()
        stage.alice.end()
        // The list is told again when a session begins.
        #expect(try alice("send", to, "later", "--queue-only").status == 0)
        let (output, peak, seconds) = try await stage.wake()
        print("\(kind): wake with hostile lists: RssAnon \(peak) kB, \(seconds) s")
        #expect(peak <= Self.most, "\(kind): \(output.suffix(1000))")
    }

    /// How long it takes until the message is accepted, and has left or failed.
    private func sent(_ body: String, _ stage: HostileStage) throws -> Double {
        let start = Date()
        _ = try stage.alice.kalij("send", "mallory@localhost", body, "--confirm")
        return Date().timeIntervalSince(start)
    }
}
