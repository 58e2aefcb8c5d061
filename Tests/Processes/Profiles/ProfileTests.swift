import Foundation
import KalijLab
import TestSupport
import Testing

/// Names and pictures with real servers.
@Suite(.serialized) struct ProfileTests {
    private static let (alice, bob) = ("alice@localhost", "bob@localhost")

    /// A file with the signature of a PNG.
    private func picture(_ name: String, bytes: Int, in world: World) throws -> String {
        let path = world.laboratory.path(name + ".png")
        var data = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13])
        data.append(Data("IHDR\(name)".utf8))
        data.append(Data(repeating: 7, count: bytes))
        try data.write(to: URL(fileURLWithPath: path))
        return path
    }

    private func pictures(of kalij: Kalij) -> [String] {
        (FileManager.default.subpaths(atPath: kalij.data + "/pictures") ?? []).filter { $0.contains("/") }
    }

    @Test(
        "contacts see the name and the picture of each other; a forged picture is refused; a logout removes the files",
        arguments: LongForm.servers)
    func contacts(_ kind: ServerKind) async throws {
        let world = try await World(kind)
        defer { world.close() }
        let alice = world.kalij
        let bob = try Kalij(data: world.laboratory.path("bob"))
        #expect(try bob.login(world.server, as: Self.bob).status == 0)
        #expect(try bob("profile").status == 1)
        let (atAlice, atBob) = (try alice.running(), try bob.running())
        try await atAlice.event("caught_up")
        try await atBob.event("caught_up")
        #expect(try alice("add", Self.bob, "--wait").status == 0)
        try await atBob.event("request")
        #expect(try bob("accept", Self.alice, "--wait").status == 0)
        #expect(try bob("add", Self.alice, "--wait").status == 0)
        try await atAlice.event("contact") { $0["subscription"] as? String == "both" }

        let small = try picture("small", bytes: 1000, in: world)
        #expect(try bob("profile", "--name", "Bob Ω", "--avatar", small, "--wait").status == 0)
        try await atAlice.event("profile") { $0["nick"] as? String == "Bob Ω" }
        try await atAlice.event("profile") { $0["avatar"] != nil }
        #expect(pictures(of: alice) == [], "nobody has asked for the picture")
        let seen = try #require(try alice("--json", "profile", Self.bob).objects().first)
        let file = try #require(seen["avatar_file"] as? String)
        #expect(FileManager.default.contentsEqual(atPath: file, andPath: small))
        #expect((seen["vcard"] as? [String: [String]])?["NICKNAME"] == ["Bob Ω"])
        let contact = try alice("--json", "roster").objects().first
        #expect(contact?["nick"] as? String == "Bob Ω")
        #expect(contact?["avatar"] as? String == seen["avatar"] as? String)
        #expect(try alice("roster").output.contains("calls itself \"Bob Ω\""))

        // Another device of bob's knows, and changes the picture.
        let device = try Kalij(data: world.laboratory.path("device"))
        #expect(try device.login(world.server, as: Self.bob).status == 0)
        #expect(try device("--json", "profile").objects().first?["nick"] as? String == "Bob Ω")
        let other = try picture("other", bytes: 40_000, in: world)
        #expect(try device("profile", "--avatar", other, "--wait").status == 0)
        let first = seen["avatar"] as? String
        try await atAlice.event("profile") { $0["avatar"] != nil && $0["avatar"] as? String != first }
        #expect(pictures(of: alice) == [])
        let second = try #require(try alice("--json", "profile", Self.bob).objects().first)
        #expect(
            FileManager.default.contentsEqual(atPath: try #require(second["avatar_file"] as? String), andPath: other))
        #expect(second["nick"] as? String == "Bob Ω")

        try await forge(world, atAlice)
        #expect(try bob("profile", "--name", "", "--avatar", "", "--wait").status == 0)
        let isGone = try await until(every: 100) {
            try alice("--json", "roster").objects().first?["avatar"] == nil
        }
        #expect(isGone)
        #expect(try alice("profile", Self.bob).status == 1)
        #expect(try bob("profile", "--avatar", small, "--wait").status == 0)
        #expect(pictures(of: bob).count == 1)
        #expect(atAlice.end(SIGTERM).status == 0)
        #expect(atBob.end(SIGTERM).status == 0)
        #expect(try bob("logout", Self.bob).status == 0)
        #expect(pictures(of: bob) == [])
    }

    /// Another client of bob's publishes a hash that is not of the bytes.
    private func forge(_ world: World, _ run: Running) async throws {
        let hash = String(repeating: "ab", count: 20)
        func publish(_ node: String, _ content: String) -> String {
            """
            <iq type='set' id='\(UUID().uuidString)'><pubsub xmlns='http://jabber.org/protocol/pubsub'><publish node='\(node)'>\
            <item id='\(hash)'>\(content)</item></publish></pubsub></iq>
            """
        }
        let forged = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8))
        try await world.peer("bob").send(
            raw: publish(
                "urn:xmpp:avatar:data", "<data xmlns='urn:xmpp:avatar:data'>\(forged.base64EncodedString())</data>")
                + publish(
                    "urn:xmpp:avatar:metadata",
                    "<metadata xmlns='urn:xmpp:avatar:metadata'><info bytes='16' id='\(hash)' type='image/png'/></metadata>"
                ))
        try await run.event("profile") { $0["avatar"] as? String == hash }
        let answer = try world.kalij("profile", Self.bob)
        #expect(answer.status == 65, "\(answer.errors)")
        #expect(answer.errors.contains("the picture of bob@localhost is not what its hash says"), "\(answer.errors)")
        #expect(pictures(of: world.kalij) == [])
    }

    @Test(
        "changes wait for processes that are killed again and again: the last change has the last word",
        arguments: LongForm.servers)
    func killed(_ kind: ServerKind) async throws {
        let random = RandomChoices("profiles", part: kind == .prosody ? 0 : 1)
        let world = try await World(kind)
        defer { world.close() }
        for number in 0..<4 {
            let file = try picture("p\(number)", bytes: 10_000, in: world)
            #expect(try world.kalij("profile", "--name", "Alice \(number)", "--queue-only").status == 0)
            #expect(try world.kalij("profile", "--avatar", file, "--queue-only").status == 0)
            for _ in 0..<3 {
                let run = try world.kalij.running()
                try await sleep(for: random.milliseconds(10...400))
                run.process.signal(SIGKILL)
                run.process.ended()
            }
        }
        let run = try world.kalij.running()
        let isDone = try await until(every: 200) {
            try await world.sql("SELECT count(*) FROM intent WHERE problem = ''").hasPrefix("8")
        }
        #expect(isDone)
        let device = try Kalij(data: world.laboratory.path("device"))
        #expect(try device.login(world.server).status == 0)
        let seen = try #require(try device("--json", "profile").objects().first)
        #expect(seen["nick"] as? String == "Alice 3")
        let file = try #require(seen["avatar_file"] as? String)
        #expect(FileManager.default.contentsEqual(atPath: file, andPath: world.laboratory.path("p3.png")))
        #expect(pictures(of: world.kalij).count <= 1)
        #expect(run.end(SIGTERM).status == 0)
    }

    @Test("without a connection what is known is printed, and a change waits on the disk")
    func unreached() async throws {
        let world = try await World(.prosody)
        defer { world.close() }
        #expect(try world.kalij("profile", "--name", "Alice", "--wait").status == 0)
        await world.server.stop()
        let reading = try world.kalij("profile")
        #expect(reading.status == 69, "\(reading.errors)")
        #expect(reading.output.contains("name: Alice"))
        #expect(try world.kalij("profile", "--queue-only").status == 0)
        #expect(try world.kalij("profile", Self.bob, "--queue-only").status == 1)
        #expect(try world.kalij("profile", Self.bob, "--name", "x").status == 64)
        #expect(try world.kalij("profile", "--avatar", "/dev/null", "--queue-only").status == 0, "no picture")
        #expect(try world.kalij("profile", "--name", "Juliet", "--queue-only").status == 0)
        try await world.server.start()
        let run = try world.kalij.running()
        try await run.event("profile") { $0["nick"] as? String == "Juliet" }
        #expect(run.end(SIGTERM).status == 0)
    }
}
