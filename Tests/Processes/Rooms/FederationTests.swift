import Foundation
import KalijLab
import Synchronization
import TestSupport
import Testing

/// Rooms on other servers, with the link between the servers cut: two Prosodys and an ejabberd.
@Suite(.serialized) struct FederationTests {
    @Test(
        "links between servers are cut in the middle of traffic; case 27: a link swallows messages, and the processes die: every room has all once, in order"
    )
    func links() async throws {
        // At the same time: most of the time is waiting.
        async let cut: Void = Self.cut()
        async let swallowed: Void = Self.swallowed()
        _ = try await (cut, swallowed)
    }

    @Test("rooms that their server has forgotten while an account is in them are noticed, and not made anew")
    func forgotten() async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let federation = try await Federation(
            ["one.test": .prosody, "two.test": .prosody, "three.test": .ejabberd],
            users: ["one.test": ["alice"], "two.test": ["bob"], "three.test": ["carol"]], in: laboratory)
        let rooms = ["two.test": "camp@conference.two.test", "three.test": "camp@conference.three.test"]
        let alice = try Client("alice", at: try federation.server("one.test"), in: laboratory)
        for (domain, user) in [("two.test", "bob"), ("three.test", "carol")] {
            let server = try federation.server(domain)
            let chat = try await Peer(user, password: "secret", server: server, laboratory: laboratory)
                .chat(
                    with: rooms[domain] ?? "", label: "x", rate: 1, count: 0, nick: user,
                    fields: ["muc#roomconfig_persistentroom": "0"])
            let joined = try alice.kalij("room", "join", rooms[domain] ?? "")
            #expect(joined.status == 0, "\(joined)")
            // Nobody hears that the service goes.
            let link = try federation.link(from: domain, to: "one.test")
            try await link.set(.swallowing)
            await server.stop()
            await chat.quit()
            try await server.start()
            try await link.set(.open)
            #expect(try alice.kalij("send", rooms[domain] ?? "", "Is anybody there?").status == 0)
        }
        var states: [String?] = []
        let isNoticed = try await until(every: 500) {
            states = try alice.kalij("--json", "room").objects().map { $0["room_state"] as? String }
            return states == ["absent", "absent"]
        }
        #expect(isNoticed, "\(states)")
        for room in rooms.values { #expect(try alice.kalij("disco", room).status != 0, "\(room) was made anew") }
        try alice.stop()
        await federation.stop()
    }

    /// What each says while the links are cut, a text a second. `Scripts/long federation-cut 30` gives the long form.
    private static let textsOfCut = LongForm.amount("federation-cut", short: 4)

    private static func cut() async throws {
        try await Country.with { country in
            for speaker in country.speakers { await speaker.talk() }
            try await country.everybodySays(3)
            let isHeard = try await until(every: 100) {
                try country.speakers.allSatisfy { try country.heard("\($0.client.name)-2", in: $0.room) }
            }
            #expect(isHeard, "the rooms did not show the first messages")
            for link in country.federation.allLinks { try await link.set(.cut) }
            country.note("cut")
            try await country.everybodySays(textsOfCut)
            for link in country.federation.allLinks { try await link.set(.open) }
            country.note("open")
            try await country.everybodySays(3)
            for speaker in country.speakers { try await speaker.beSilent() }
            country.note("silent")
            try await country.settle()
        }
    }

    /// A message is lost after it was acknowledged, or its reflection is.
    private static func swallowed() async throws {
        try await Country.with { country in
            for speaker in country.speakers { try await speaker.say() }
            let isShown = try await until { try await country.owed() == 0 }
            let first = try await country.rest()
            #expect(isShown, "the rooms did not show the first messages: \(first)")
            // Messages of Prosody to ejabberd and of ejabberd to Prosody are lost; from Prosody to Prosody a reflection.
            let links = try [("one", "three"), ("three", "two"), ("two", "one")]
                .map { try country.federation.link(from: $0.0 + ".test", to: $0.1 + ".test") }
            for link in links { try await link.set(.swallowing) }
            country.note("swallowing")
            for speaker in country.speakers { try await speaker.say() }
            let isAcked = try await until { try await country.owed(state: 2) == country.speakers.count }
            let isSwallowed = try await until {
                try links.allSatisfy { $0.counts.swallowed > 0 } && country.heard("alice-2", in: Country.orchard)
            }
            let rest = try await country.rest()
            #expect(isAcked, "the servers did not acknowledge: \(rest)")
            #expect(isSwallowed, "nothing was swallowed: \(links.map(\.counts))")
            #expect(try !country.heard("alice-2", in: Country.garden) && !country.heard("dora-2", in: Country.orchard))
            #expect(try await country.owed() == country.speakers.count, "found before anybody looked: \(rest)")
            for link in links { try await link.set(.open) }
            country.note("open")
            // Whoever comes next finds out.
            for client in country.clients { try client.beKilled() }
            try await country.settle()
        }
    }
}

/// Three servers, two rooms with somebody who uses slixmpp, and three occupants on other servers who use `kalij`.
private struct Country: Sendable {
    static let (orchard, garden) = ("orchard@conference.two.test", "garden@conference.three.test")

    let laboratory: Laboratory
    let federation: Federation
    let hosts: [String: Chat]
    let speakers: [Speaker]
    let start = Date()

    static func with(_ body: (Country) async throws -> Void) async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let country = try await Country(laboratory)
        try await body(country)
        for chat in country.hosts.values { await chat.quit() }
        await country.federation.stop()
        country.note("over")
    }

    private init(_ laboratory: Laboratory) async throws {
        self.laboratory = laboratory
        federation = try await Federation(
            ["one.test": .prosody, "two.test": .prosody, "three.test": .ejabberd],
            users: ["one.test": ["alice"], "two.test": ["bob"], "three.test": ["carol", "dora"]], in: laboratory)
        let (one, two, three) = (
            try federation.server("one.test"), try federation.server("two.test"), try federation.server("three.test")
        )
        async let bob = Peer("bob", password: "secret", server: two, laboratory: laboratory)
            .chat(with: Self.orchard, label: "question", rate: 2, originIDs: true, nick: "bob")
        async let carol = Peer("carol", password: "secret", server: three, laboratory: laboratory)
            .chat(with: Self.garden, label: "question", rate: 2, originIDs: true, nick: "carol")
        hosts = try await [Self.orchard: bob, Self.garden: carol]
        let alice = try Client("alice", at: one, in: laboratory)
        let dora = try Client("dora", at: three, in: laboratory)
        speakers = try [(alice, Self.orchard), (alice, Self.garden), (dora, Self.orchard)].map {
            try Speaker($0.0, in: $0.1)
        }
        note("begun")
    }

    func note(_ what: String) { print("federation: \(Int(Date().timeIntervalSince(start))) s: \(what)") }

    var clients: [Client] {
        speakers.map(\.client).reduce(into: []) { list, client in
            if !list.contains(where: { $0 === client }) { list.append(client) }
        }
    }

    /// Whether the occupant who uses slixmpp has heard a text.
    func heard(_ text: String, in room: String) throws -> Bool {
        try hosts[room]?.events().contains { $0.event == "received" && $0.body == text } ?? false
    }

    /// How many messages the rooms have not shown.
    func owed(state: Int? = nil) async throws -> Int {
        var sum = 0
        for client in clients {
            let text = try await client.sql(
                "SELECT count(*) FROM room_message" + (state.map { " WHERE state = \($0)" } ?? ""))
            sum += Int(text.prefix { $0 != "\n" }) ?? 0
        }
        return sum
    }

    /// What is not settled, for a report.
    func rest() async throws -> String {
        var text = ""
        for client in clients {
            text += try await client.sql(
                """
                SELECT '\(client.name)', m.body, r.state, m.state, r.nick, r.acked_at, r.refusals, r.room
                    FROM room_message r JOIN message m ON m.id = r.message;
                SELECT '\(client.name)', jid, state, failures, held, joins, reason FROM room
                """)
        }
        return text
    }

    /// Everybody has said so many more texts.
    func everybodySays(_ count: Int) async throws {
        for speaker in speakers {
            let wanted = await speaker.count + count
            let isSaid = await until(every: 100) { await speaker.count >= wanted }
            #expect(isSaid, "\(speaker.client.name) is silent")
        }
    }

    func settle() async throws {
        for chat in hosts.values { _ = try await chat.stopSending() }
        try await nothingIsOwed()
        // What comes twice comes before what is said now.
        for speaker in speakers { try await speaker.say() }
        try await nothingIsOwed()
        for speaker in speakers {
            if let host = hosts[speaker.room] { try await speaker.judge(host, federation) }
        }
        for client in clients { try client.stop() }
    }
}

extension Country {
    private func nothingIsOwed() async throws {
        let isDone = try await until(every: 500) { try await owed() == 0 }
        let rest = try await rest()
        note("settled: \(isDone)")
        #expect(isDone, "not settled: \(rest)")
    }
}

/// A user of `kalij`, with a process that runs all the time.
private final class Client: Sendable {
    let name: String
    let kalij: Kalij
    let laboratory: Laboratory
    private let process: Mutex<Subprocess>
    private let files: String

    init(_ name: String, at server: any XMPPServer, in laboratory: Laboratory) throws {
        self.name = name
        self.laboratory = laboratory
        files = laboratory.path(name)
        kalij = try Kalij(data: files)
        let login = try kalij.login(server, as: "\(name)@\(server.domain)")
        #expect(login.status == 0, "\(login)")
        process = Mutex(try Self.run(kalij, files))
    }

    private static func run(_ kalij: Kalij, _ files: String) throws -> Subprocess {
        var launch = kalij.launch(["--json", "run"])
        launch.output = .file(files + ".out")
        launch.errors = .file(files + ".err")
        return try Subprocess(launch)
    }

    private func end(_ signal: Int32) -> Subprocess.Ending? {
        let process = process.withLock { $0 }
        process.signal(signal)
        return process.ended()
    }

    func stop() throws { #expect(end(SIGTERM)?.status == 0, "\(name)") }

    /// Dies, and another process goes on.
    func beKilled() throws {
        _ = end(SIGKILL)
        let next = try Self.run(kalij, files)
        process.withLock { $0 = next }
    }

    deinit { _ = end(SIGKILL) }

    func sql(_ text: String) async throws -> String {
        try await laboratory.run(
            "/usr/bin/sqlite3", ["-batch", "-cmd", ".timeout 10000", kalij.data + "/kalij.db", text])
    }
}

/// A line of the history.
private struct Line: Decodable {
    let direction: String?
    let from: String?
    let body: String?
    let state: String?
}

/// A client in a room.
private actor Speaker {
    nonisolated let client: Client
    nonisolated let room: String
    private var said: [String] = []
    private var talking: Task<Void, any Error>?
    var count: Int { said.count }

    init(_ client: Client, in room: String) throws {
        (self.client, self.room) = (client, room)
        let joined = try client.kalij("--json", "room", "join", room)
        try #require(joined.status == 0, "\(client.name): \(joined)")
    }

    func say() throws {
        let text = "\(client.name)-\(said.count + 1)"
        let result = try client.kalij("send", room, text, "--queue-only")
        #expect(result.status == 0, "\(result)")
        if result.status == 0 { said.append(text) }
    }

    func talk() {
        talking = Task {
            while !Task.isCancelled {
                try say()
                // The pace of somebody who talks.
                try await sleep(for: .milliseconds(LongForm.runs("federation-cut") ? 1000 : 300))
            }
        }
    }

    func beSilent() async throws {
        talking?.cancel()
        do { try await talking?.value } catch is CancellationError {}
    }

    /// Compares what was said with the far end, and what was asked there with the history here.
    func judge(_ host: Chat, _ federation: Federation) async throws {
        let (user, domain) = room == Country.orchard ? ("bob", "two.test") : ("carol", "three.test")
        let server = try federation.server(domain)
        let received = try host.events().filter { $0.event == "received" }
        let heard = received.filter { $0.sender == "\(room)/\(client.name)" }.compactMap(\.body)
        let asked = received.filter { $0.sender == "\(room)/\(user)" }.compactMap(\.body)
        // Read by slixmpp: none of Kalij's code.
        let entries = try await Peer(user, password: "secret", server: server, laboratory: client.laboratory)
            .archive(of: room)
        let archived = entries.filter { $0.sender == "\(room)/\(client.name)" }.compactMap(\.body)
        var records: [Line] = []
        // Questions asked while a client was not in the room come with the room's archive.
        _ = try await until(every: 500) {
            records = try self.history()
            return records.count { $0.direction == "in" && $0.from == "\(room)/\(user)" } >= asked.count
        }
        let mine = records.filter { $0.direction == "out" }
        let answered = records.filter { $0.direction == "in" && $0.from == "\(room)/\(user)" }.compactMap(\.body)
        print(
            """
            federation: \(client.name) in \(room): said \(said.count), heard \(heard.count), archived \(archived.count); \
            asked \(asked.count), in the history \(answered.count)
            """)
        compare(heard, with: said, "what \(user) heard")
        compare(archived, with: said, "the room's archive")
        compare(mine.compactMap(\.body), with: said, "the own history")
        #expect(mine.allSatisfy { $0.state == "delivered" }, "\(client.name): \(Set(mine.map(\.state)))")
        compare(answered, with: asked, "what \(user) said")
    }

    /// All once, in order; a report names only the differences.
    private func compare(_ found: [String], with wanted: [String], _ what: String) {
        let lost = Set(wanted).subtracting(found).sorted()
        let counts = Dictionary(grouping: found) { $0 }.mapValues(\.count)
        let doubled = counts.filter { $0.value > 1 }.keys.sorted()
        let isOrdered = lost.isEmpty && doubled.isEmpty ? found == wanted : true
        let place = "\(client.name) in \(room), \(what)"
        #expect(lost.isEmpty, "\(place): lost")
        #expect(doubled.isEmpty, "\(place): doubled")
        #expect(isOrdered, "\(place), not in order: \(found.joined(separator: " "))")
    }

    private func history() throws -> [Line] {
        try client.kalij("--json", "history", room, "--limit", "1000000").lines
            .filter { !$0.contains("\"event\":\"gap\"") }
            .map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    }
}
