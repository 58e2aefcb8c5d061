import Foundation
import KalijPush
import KalijPushLab
import KalijStore
import Testing

@Suite("The server between stand-ins", .serialized)
struct ServerTests {
    @Test("10 publishes at once: one push at once and one at the end of the window; all are answered")
    func coalescing() throws {
        let scene = try Scene { Self.setWindow(&$0, "2s") }
        try scene.start()
        // The window begins after this, however late the first push comes.
        let begin = Date().timeIntervalSince1970
        let ids = (0..<10).map { _ in scene.xmpp.publish(device(1)) }
        for id in ids { #expect(scene.xmpp.wait(for: id)?.type == "result") }
        #expect(scene.apns.pushes.count == 1)
        #expect(scene.xmpp.wait { scene.apns.pushes.count == 2 })
        let times = scene.apns.pushes.map(\.at)
        #expect(times[1] - begin > 1.9)
        usleep(2_300_000)
        #expect(scene.apns.pushes.count == 2)
        #expect(scene.xmpp.repeated == 0)
    }

    static func setWindow(_ settings: inout [String: Any], _ window: String, of name: String = "apple") {
        guard var modules = settings["pushModules"] as? [String: Any], var module = modules[name] as? [String: Any]
        else { return }
        module["ratelimit"] = ["ratelimitTime": window]
        modules[name] = module
        settings["pushModules"] = modules
    }

    @Test("a queued push survives the end of the process, and so does a block")
    func restart() throws {
        let scene = try Scene { Self.setWindow(&$0, "2s") }
        try scene.start()
        scene.apns.script(device(2), LabAPNs.reply(410, "Unregistered"))
        let ids = [device(1), device(1), device(2)].map { scene.xmpp.publish($0) }
        for id in ids { #expect(scene.xmpp.wait(for: id) != nil) }
        scene.stop()
        #expect(scene.apns.pushes.count == 1)
        try scene.start()
        #expect(scene.xmpp.wait { scene.apns.pushes.count == 2 })
        #expect(scene.xmpp.wait(for: scene.xmpp.publish(device(2)))?.condition == "item-not-found")
        #expect(scene.apns.requests(for: device(2)) == 1)
    }

    @Test("the component connection lost with pushes in flight: connected again, and the pushes are answered")
    func reconnect() throws {
        let scene = try Scene()
        try scene.start()
        scene.apns.script(device(1), .later(1, .respond(status: 200)))
        let id = scene.xmpp.publish(device(1))
        #expect(scene.xmpp.wait { scene.apns.requests(for: device(1)) == 1 })
        scene.xmpp.cut()
        #expect(scene.xmpp.wait { scene.xmpp.connections == 2 })
        #expect(scene.xmpp.wait(for: id)?.type == "result")
    }

    @Test("the XMPP server ends the stream in order: earlier publishes are answered, before the end or after")
    func endedInOrder() throws {
        let scene = try Scene()
        try scene.start()
        var ids: [String] = []
        for round in 0..<6 {
            #expect(scene.xmpp.wait { scene.xmpp.isReady })
            // Some are being answered while the end of the stream comes.
            for number in 0..<300 { ids.append(scene.xmpp.publish(device(round * 300 + number))) }
            usleep(UInt32(round) * 5_000)
            scene.xmpp.endStream()
        }
        #expect(scene.xmpp.wait { scene.xmpp.unanswered == 0 }, "\(scene.xmpp.unanswered) unanswered")
        #expect(ids.allSatisfy { scene.xmpp.answer($0)?.type == "result" })
        #expect(scene.xmpp.connections >= 6)
        #expect(scene.xmpp.repeated == 0)
    }

    @Test("configuration reloaded with errors: the old configuration stays; without errors the connection stays")
    func reload() throws {
        let scene = try Scene()
        try scene.start()
        try Data("{".utf8).write(to: URL(fileURLWithPath: scene.configuration))
        scene.reload()
        let refused = "the new configuration cannot be used, the old one stays: \(scene.configuration): no valid JSON"
        #expect(scene.log.contains { $0.hasPrefix(refused) })
        #expect(scene.xmpp.wait(for: scene.xmpp.publish(device(1)))?.type == "result")
        scene.settings["limits"] = ["inFlight": 5]
        try scene.writeSettings()
        scene.reload()
        #expect(scene.log.contains("configuration read again"))
        #expect(scene.xmpp.wait(for: scene.xmpp.publish(device(2)))?.type == "result")
        #expect(scene.xmpp.connections == 1)
    }

    @Test("a reload warns like a start, and names changes that take effect at the next start")
    func notes() throws {
        let scene = try Scene()
        try scene.start()
        let before = scene.settings
        scene.settings["http"] = ["port": 9_821]
        scene.settings["limits"] = ["stanzaBytes": 4_096]
        scene.settings["state"] = ["secretFile": scene.folder + "/secret"]
        try scene.writeSettings()
        try Scene.shell("chmod 604 settings.json ec.p8", in: scene.folder)
        scene.reload()
        let later = ["http", "state", "limits.stanzaBytes"].map { "\($0): the change takes effect at the next start" }
        for line in later { #expect(scene.log.contains(line), "\(line)") }
        for place in ["", "pushModules.apple.apns.keyFilePath: "] {
            #expect(scene.log.contains { $0.hasPrefix("\(place)everybody on this machine can read the secret") })
        }
        // Again as at the start: nothing to be said.
        scene.settings = before
        try scene.writeSettings()
        try Scene.shell("chmod 600 ec.p8", in: scene.folder)
        let count = scene.log.count
        scene.reload()
        #expect(scene.log.dropFirst(count) == ["configuration read again"])
    }

    @Test("SIGTERM drains: pushes in flight are answered before the end")
    func drain() throws {
        let scene = try Scene()
        try scene.start()
        scene.apns.script(device(1), .later(0.7, .respond(status: 200)))
        let id = scene.xmpp.publish(device(1))
        #expect(scene.xmpp.wait { scene.apns.requests(for: device(1)) == 1 })
        scene.drain()
        #expect(scene.xmpp.wait(for: id)?.type == "result")
    }

    @Test("the disk takes nothing: the server goes on answering, says so, and has everything on the disk afterwards")
    func disk() throws {
        let scene = try Scene { Self.setWindow(&$0, "3s") }
        try scene.start()
        #expect(scene.xmpp.wait(for: scene.xmpp.publish(device(1)))?.type == "result")
        #expect(scene.xmpp.wait(for: scene.xmpp.publish(device(1)))?.type == "result")
        scene.apns.script(device(9), LabAPNs.reply(410, "Unregistered"))
        let other = try Database(path: scene.folder + "/push.db", durability: .process)
        try other.transaction {
            // Sent at once: needs no disk. To be queued: not promised, but in memory.
            #expect(scene.xmpp.wait(for: scene.xmpp.publish(device(2)))?.type == "result")
            #expect(scene.xmpp.wait(for: scene.xmpp.publish(device(2)))?.type == "wait")
            #expect(scene.xmpp.wait(for: scene.xmpp.publish(device(9)))?.condition == "item-not-found")
            #expect(scene.log.contains { $0.hasPrefix("the database cannot be written") })
            let text = try #require(scene.metrics())
            #expect(text.contains("kalij_push_database_up 0\n"))
            // The push on the disk is not sent uncounted, the other push goes out.
            #expect(scene.xmpp.wait { scene.apns.requests(for: device(2)) == 2 })
            #expect(scene.apns.requests(for: device(1)) == 1)
        }
        #expect(scene.xmpp.wait { scene.apns.requests(for: device(1)) == 2 })
        #expect(scene.log.contains("the database can be written again"))
        #expect(scene.log.count { $0.hasPrefix("the database") } == 2)
        let text = try #require(scene.metrics())
        #expect(text.contains("kalij_push_database_up 1\n") && text.contains("kalij_push_database_backlog 0\n"))
        scene.stop()
        try scene.start()
        #expect(scene.xmpp.wait(for: scene.xmpp.publish(device(9)))?.condition == "item-not-found")
        #expect(scene.apns.requests(for: device(9)) == 1)
        #expect(scene.metrics()?.contains("kalij_push_last_success_seconds{module=\"apple\"}") == true)
    }

    @Test("a stanza other than a publish is answered by the standards, or not at all")
    func garbage() throws {
        let scene = try Scene()
        try scene.start()
        func ask(_ type: String, _ content: String) -> String {
            let id = scene.xmpp.makeID()
            scene.xmpp.send("<iq type='\(type)' from='example.org' to='push.localhost' id='\(id)'>\(content)</iq>")
            guard let answer = scene.xmpp.wait(for: id) else { return "none" }
            return "\(answer.type) \(answer.condition)"
        }
        let pubsub = "xmlns='http://jabber.org/protocol/pubsub'"
        #expect(ask("set", "<pubsub \(pubsub)><publish><item/></publish></pubsub>") == "wait policy-violation")
        let nested = String(repeating: "<a>", count: 200) + String(repeating: "</a>", count: 200)
        #expect(ask("set", "<pubsub \(pubsub)>\(nested)</pubsub>") == "wait policy-violation")
        let huge = String(repeating: "a", count: 200_000)
        #expect(ask("set", "<pubsub \(pubsub)><publish node='\(huge)'/></pubsub>") == "wait policy-violation")
        #expect(ask("set", "<query xmlns='jabber:iq:roster'/>") == "cancel service-unavailable")
        #expect(ask("get", "<ping xmlns='urn:xmpp:ping'/>") == "result ")
        #expect(ask("get", "<query xmlns='http://jabber.org/protocol/disco#info'/>") == "result ")
        scene.xmpp.send("<message from='a@example.org' to='push.localhost'><body>hi</body></message>")
        scene.xmpp.send("<presence from='a@example.org' to='push.localhost'/>")
        scene.xmpp.send("<iq type='error' from='example.org' to='push.localhost' id='x'><error/></iq>")
        #expect(scene.xmpp.wait(for: scene.xmpp.publish(device(1)))?.type == "result")
        #expect(scene.xmpp.repeated == 0)
        #expect(scene.xmpp.connections == 1)
    }

    @Test("tokens and domains appear in no line of the log")
    func log() throws {
        let scene = try Scene()
        try scene.start()
        scene.apns.script(device(1), LabAPNs.reply(400, "BadTopic"))
        _ = scene.xmpp.wait(for: scene.xmpp.publish(device(1), domain: "secret.example"))
        _ = scene.xmpp.wait(for: scene.xmpp.publish("nonsense", domain: "secret.example"))
        #expect(!scene.log.isEmpty)
        #expect(!scene.log.contains { $0.contains(device(1)) || $0.contains("secret.example") })
    }
}
