import Foundation
import Glibc
import KalijLab
import Testing

/// The roster with real servers: cases that a random run hardly meets.
@Suite(.serialized) struct RosterCaseTests {
    private static func set(_ jid: String, _ content: String = "subscription='none'/>", to recipient: String? = nil)
        -> String
    {
        let to = recipient.map { " to='\($0)'" } ?? ""
        return """
            <iq type='set' id='\(UUID().uuidString)'\(to)><query xmlns='jabber:iq:roster'>\
            <item jid='\(jid)' \(content)</query></iq>
            """
    }

    private static func device(_ name: String, in world: World) throws -> Kalij {
        let device = try Kalij(data: world.laboratory.path(name))
        #expect(try device.login(world.server).status == 0)
        return device
    }

    @Test(
        "case 21: the roster is changed while it is asked for, and a stranger forges pushes: the first counts, the second does not"
    )
    func pushes() async throws {
        try await World.atEachServer { world in
            let run = try world.kalij.running()
            let address = try #require(try await run.event("online")["jid"] as? String)
            try await run.event("caught_up")
            try await world.peer("bob").send(
                raw: Self.set("mallory@localhost", to: address) + Self.set("mallory@localhost", to: "alice@localhost"))
            // Another client changes the roster while new devices ask for the roster.
            let changes = Task {
                for round in 0..<4 {
                    let items = (0..<25).map {
                        Self.set("c\($0)@localhost", "name='name \(round)'><group>g \($0)</group></item>")
                    }
                    try await world.peer("alice").send(raw: items.joined())
                }
            }
            let devices = try (0..<3).map { try Self.device("device-\($0)", in: world) }
            var runs: [Running] = []
            for device in devices {
                runs.append(try device.running())
                try await sleep(for: .milliseconds(400))
            }
            try await changes.value
            func contacts(_ kalij: Kalij) throws -> [String] {
                try kalij("--json", "roster").objects().map {
                    "\($0["contact"] ?? "") \($0["name"] ?? "") \($0["groups"] ?? "")"
                }
            }
            let expected = (0..<25).map { "c\($0)@localhost name 3 (\n    \"g \($0)\"\n)" }.sorted()
            for kalij in [world.kalij] + devices {
                // The last push of a contact may come after the contact.
                #expect(try await until(every: 100) { try contacts(kalij).count { $0.contains(" name 3 ") } == 25 })
                let all = try contacts(kalij)
                #expect(
                    all.allSatisfy { $0.contains(" name 3 ") && !$0.contains("mallory") },
                    "\(world.server.kind): \(all) \(expected)")
            }
            for process in [run] + runs { #expect(process.end(SIGTERM).status == 0) }
        }
    }

    @Test(
        "case 22: processes die while 5,000 contacts arrive, and again when they are others: the old ones or the new ones, never half"
    )
    func killed() async throws {
        try await World.atEachServer { world in
            let random = RandomChoices("roster", part: world.server.kind == .prosody ? 0 : 1)
            let devices = try (0..<4).map { try Self.device("device-\($0)", in: world) }
            var seen: [String] = []
            for name in ["old", "new"] {
                try await Self.give(5000, named: name, in: world)
                // The first device shows how long that takes.
                let start = Date()
                let first = try devices[0].running()
                let isThere = try await until(every: 10) {
                    try await Self.contacts(devices[0], world) == "\(name) 5000"
                }
                #expect(isThere, "\(world.server.kind), \(name)")
                let time = Int(Date().timeIntervalSince(start) * 1000)
                #expect(first.end(SIGTERM).status == 0)
                for device in devices.dropFirst() {
                    let run = try device.running()
                    try await sleep(for: random.milliseconds(time * 2 / 3...time * 5 / 4))
                    run.process.signal(SIGKILL)
                    run.process.ended()
                    seen.append(try await Self.contacts(device, world))
                }
                for device in devices.dropFirst() {
                    let run = try device.running()
                    let isThere = try await until(every: 50) {
                        try await Self.contacts(device, world) == "\(name) 5000"
                    }
                    #expect(isThere, "\(world.server.kind), \(name)")
                    run.process.signal(SIGKILL)
                    run.process.ended()
                }
            }
            print("rosters at \(world.server.kind): \(seen.map { $0.isEmpty ? "none" : $0 })")
            #expect(Set(seen).isSubset(of: ["", "old 5000", "new 5000"]), "\(world.server.kind): \(seen)")
        }
    }

    /// The stored contacts: a line for each name.
    private static func contacts(_ device: Kalij, _ world: World) async throws -> String {
        try await world.laboratory.run(
            "/usr/bin/sqlite3",
            [
                "-batch", "-cmd", ".timeout 10000", device.data + "/kalij.db",
                "SELECT name || ' ' || count(*) FROM contact GROUP BY name",
            ]
        ).trimmingCharacters(in: .newlines)
    }

    /// Gives alice so many contacts instead of all others, by the server's own files, because thousands of requests take a minute. The
    /// server is started again: all devices log in anew then, and ask for the roster.
    private static func give(_ count: Int, named name: String, in world: World) async throws {
        let users = (0..<count).map { "c\($0)" }
        await world.server.stop()
        if world.server.kind == .prosody {
            let items = users.map {
                #"["\#($0)@example.org"] = { subscription = "none", groups = {}, name = "\#(name)" };"#
            }
            let folder = world.laboratory.path("prosody/data/localhost/roster")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try
                "return { [false] = { version = \(name.utf8.reduce(0) { $0 + Int($1) }) }; \(items.joined(separator: "\n")) };"
                .write(toFile: folder + "/alice.dat", atomically: true, encoding: .utf8)
        }
        try await world.server.start()
        guard world.server.kind == .ejabberd else { return }
        let owner = #"{<<"alice">>,<<"localhost">>}"#
        let rows = users.map { user in
            let jid = #"{<<"\#(user)">>,<<"example.org">>,<<>>}"#
            return """
                {roster,{<<"alice">>,<<"localhost">>,\(jid)},\(owner),\(jid),<<"\(name)">>,none,none,[],<<>>,[]}.
                """
        }
        let file = world.laboratory.path("roster.txt")
        let table = """
            {tables,[{roster,[{record_name,roster},\
            {attributes,[usj,us,jid,name,subscription,ask,groups,askmessage,xs]}]}]}.
            """
        try "\(table)\n\(rows.joined(separator: "\n"))\n".write(toFile: file, atomically: true, encoding: .utf8)
        try await world.laboratory.run(
            "/usr/bin/curl",
            [
                "-sSf", "-H", "Content-Type: application/json", "-d", #"{"file": "\#(file)"}"#,
                "http://127.0.0.1:\(world.server.port + 2)/api/load",
            ])
    }
}
