import Foundation
import Glibc
import KalijLab
import TestSupport
import Testing

/// Many messages of one chain, read in another order than they were written, on both servers.
@Suite(.serialized) struct EncryptionChainTests {
    /// `Scripts/long encryption-chain 3000` gives the long form: so many messages in the archive, with both versions.
    private static let long = LongForm.amount("encryption-chain")
    /// 1,000 keys of a session are kept.
    private static let mostKept = 990

    @Test(
        "messages of one chain wait in the archive, and live ones come first when alice is back: all are read, in order, once",
        arguments: long == nil ? [false] : [false, true])
    func live(withVersion2: Bool) async throws {
        try await World.atEachServer(options: ServerOptions(resumeSeconds: 2)) { world in
            // Nothing live comes before 500 messages of the archive were read: only then presence is announced. Two pages are left then.
            let (kind, count) = (world.server.kind, Self.long ?? 900)
            let (alice, bob) = (EncryptedUser(world.kalij), try EncryptedUser("bob", world))
            let sessions = world.server.sessionReader(account: "alice@localhost")
            try await acquaint(alice, bob, withVersion2)
            try await loseSession(alice, sessions)
            _ = try await world.sql(Self.watch)
            let archived = (0..<count).map { "archived \($0)" }
            var began = Date()
            try await write(archived, bob)
            let writing = Date().timeIntervalSince(began)
            began = Date()
            try await alice.begin()
            let live = try await writeMeanwhile(bob, alice, world)
            let reading = Date().timeIntervalSince(began)
            try await all(["hello", "and hello"] + archived + live, alice, kind)
            let seconds = Date().timeIntervalSince(began)
            let aside = try await number("SELECT count(*) FROM test_aside", world) ?? 0
            #expect(aside > 0, "\(kind): no message came before the end of the archive")
            print(
                "\(kind), version 2 \(withVersion2): \(count) messages of a chain written in \(writing) s; the archive read in",
                "\(reading) s; all with \(live.count) live ones, \(aside) of them set aside, \(seconds) s after the start"
            )
            for user in [alice, bob] { user.end() }
        }
    }

    @Test(
        "the reading begins behind many messages of a chain: a live one skips keys; the messages are read when fetched backwards",
        arguments: [false, true])
    func older(withVersion2: Bool) async throws {
        try await World.atEachServer(options: ServerOptions(resumeSeconds: 2)) { world in
            let (kind, count) = (world.server.kind, min(Self.long ?? 120, Self.mostKept))
            let (alice, bob) = (EncryptedUser(world.kalij), try EncryptedUser("bob", world))
            let sessions = world.server.sessionReader(account: "alice@localhost")
            try await acquaint(alice, bob, withVersion2)
            try await loseSession(alice, sessions)
            let archived = (0..<count).map { "archived \($0)" }
            try await write(archived, bob)
            try await archive(has: archived, of: bob, world)
            // As if the account had been added now, with no days of history: keys are older only here. The stamps of archives are whole
            // seconds: a later one begins.
            try await sleep(for: .seconds(1.1))
            let now = Int(Date().timeIntervalSince1970 * 1000)
            _ = try await world.sql("DELETE FROM archive_range; UPDATE catchup SET since = \(now);")
            try await alice.ready()
            let before = try alice.messages().compactMap(\.body)
            #expect(before == ["hello", "and hello"], "\(kind): \(before.count)")
            try say("live", bob)
            try await alice.has("live", from: "bob@localhost")
            // One more of the chain before.
            let kept = try await number("SELECT count(*) FROM omemo_kept", world)
            #expect(kept == count + 1, "\(kind)")
            // First some, then all; the process is killed in between.
            let some = try alice.kalij("history", "--older", "\(count / 3)", "--limit", "1")
            #expect(some.status == 0, "\(kind): \(some.errors)")
            let fetched = try alice.messages().compactMap(\.body).filter { $0.hasPrefix("archived") }
            // The live one may be among those that are counted.
            #expect(fetched.count > count / 4 && fetched.count < count, "\(kind): \(fetched.count)")
            #expect(fetched == archived.suffix(fetched.count), "\(kind): \(fetched)")
            alice.kill()
            let began = Date()
            let rest = try alice.kalij("history", "--older", "100000", "--fill", "--limit", "1")
            #expect(rest.status == 0, "\(kind): \(rest.errors)")
            print(
                "\(kind): \(count) messages before a gap; \(count - fetched.count) in \(Date().timeIntervalSince(began)) s"
            )
            try await alice.begin()
            try await all(["hello", "and hello"] + archived + ["live"], alice, kind)
            #expect(try await number("SELECT count(*) FROM omemo_kept", world) == 1, "\(kind)")
            for user in [alice, bob] { user.end() }
        }
    }

    @Test(
        "a member of a room enters after many messages: a live one comes first, and the older ones, fetched backwards, are read"
    )
    func room() async throws {
        try await World.atEachServer { world in
            let kind = world.server.kind
            let (alice, bob) = (EncryptedUser(world.kalij), try EncryptedUser("bob", world))
            for user in [alice, bob] { try await user.ready() }
            #expect(try bob.kalij("room", "create", "Orchard", "--invite", "alice@localhost").status == 0)
            let room = try #require(bob.kalij("--json", "room").objects().first?["room"] as? String)
            #expect(try bob.kalij("omemo", "on", room).status == 0)
            // A page of older messages has 50.
            let texts = (0..<45).map { "before \($0)" }
            try await write(texts, bob, to: room)
            #expect(try alice.kalij("room", "join", room).status == 0)
            #expect(try bob.kalij("send", room, "live", "--confirm").status == 0)
            try await alice.has("live", from: room)
            try await all(texts + ["live"], alice, kind)
            for user in [alice, bob] { user.end() }
        }
    }

    // MARK: Sessions

    /// Ends alice's process, and waits until the server has forgotten her session: what comes then is in the archive alone.
    /// - Parameter sessions: began before the process.
    private func loseSession(_ alice: EncryptedUser, _ sessions: any SessionLogReader) async throws {
        alice.end()
        var (sessions, seen) = (sessions, [SessionEvent]())
        let isLost = await until(every: 50) {
            seen += sessions.newEvents().map(\.event)
            // Earlier sessions of the account may end meanwhile.
            let begin = seen.lastIndex { if case .resumed = $0 { true } else { $0 == .bound } } ?? 0
            guard let end = seen[begin...].firstIndex(of: .hibernated) else { return false }
            return seen[end...].contains(.lost(.expired))
        }
        try #require(isLost, "\(seen)")
    }

    /// Waits until alice's archive has these texts of bob's: a busy server archives late.
    private func archive(has texts: [String], of bob: EncryptedUser, _ world: World) async throws {
        let ids = Set(try bob.messages().filter { texts.contains($0.body ?? "") }.map(\.id))
        var missing = ids
        let isThere = try await until(every: 200) {
            let archive = try await world.peer("alice").archive()
            missing = ids.subtracting(archive.compactMap { $0.originID ?? $0.id })
            return missing.isEmpty
        }
        #expect(isThere && ids.count == texts.count, "\(world.server.kind): \(missing.count) of \(ids.count) missing")
    }

    // MARK: Writing

    /// A chain of bob's for alice: she has answered, so that bob's messages are no key exchanges any more.
    private func acquaint(_ alice: EncryptedUser, _ bob: EncryptedUser, _ withVersion2: Bool) async throws {
        for user in [alice, bob] {
            if withVersion2 { try await user.readyWithVersion2() } else { try await user.ready() }
        }
        #expect(try bob.kalij("omemo", "on", "alice@localhost").status == 0)
        #expect(try bob.kalij("send", "alice@localhost", "hello", "--confirm").status == 0)
        try await alice.has("hello", from: "bob@localhost")
        #expect(try alice.kalij("send", "bob@localhost", "and hello", "--confirm").status == 0)
        try await bob.has("and hello", from: "alice@localhost")
    }

    private func say(_ text: String, _ bob: EncryptedUser, to: String = "alice@localhost") throws {
        let run = try #require(bob.run)
        try run.process.write(line: #"{"command": "send", "to": "\#(to)", "body": "\#(text)"}"#)
    }

    /// Bob writes, and the server has all.
    private func write(
        _ texts: [String], _ bob: EncryptedUser, to: String = "alice@localhost"
    ) async throws {
        for text in texts { try say(text, bob, to: to) }
        var states: [String] = []
        let isDone = try await until(every: 500) {
            let lines = try bob.messages().filter { texts.contains($0.body ?? "") }
            states = lines.compactMap { line in line.state.map { $0 + (line.error.map { " \($0)" } ?? "") } }
            return states.count == texts.count && states.allSatisfy { ["acked", "delivered"].contains($0) }
        }
        let counts = Dictionary(states.map { ($0, 1) }, uniquingKeysWith: +)
        #expect(isDone, "\(counts)")
    }

    /// Bob writes until alice has read her archive. In the middle of her reading her process stops until the server has a few
    /// messages for her: these come live, however fast she reads.
    private func writeMeanwhile(_ bob: EncryptedUser, _ alice: EncryptedUser, _ world: World) async throws -> [String] {
        var live: [String] = []
        func write() throws {
            live.append("live \(live.count)")
            try say(live[live.count - 1], bob)
        }
        var hasStopped = false
        while try !isCaughtUp(alice), live.count < 2000 {
            try write()
            guard !hasStopped, try await world.sql(Self.phase) == "after-presence\n" else { continue }
            hasStopped = true
            alice.run?.process.signal(SIGSTOP)
            for _ in 0..<3 { try write() }
            let last = live[live.count - 1]
            try await bob.run?.event("state") { $0["body"] as? String == last && $0["state"] as? String == "acked" }
            alice.run?.process.signal(SIGCONT)
        }
        return live
    }

    private static let phase = "SELECT phase FROM catchup WHERE archive = ''"

    // MARK: Reading

    private func isCaughtUp(_ user: EncryptedUser) throws -> Bool {
        try user.run?.output.contains(#""caught_up""#) ?? false
    }

    /// The user has all texts, in this order.
    private func all(_ texts: [String], _ user: EncryptedUser, _ kind: ServerKind) async throws {
        var lines: [EncryptedUser.Line] = []
        let isDone = try await until(every: 500) {
            lines = try user.messages()
            return lines.count { $0.body != nil } >= texts.count
        }
        let unread = lines.filter { $0.encryption?["undecryptable"] != nil }
        #expect(unread.isEmpty, "\(kind): \(unread.count): \(unread.prefix(3))")
        let bodies = lines.compactMap(\.body)
        let wrong = zip(bodies, texts).first { $0 != $1 }.map { "\($0) instead of \($1)" } ?? "-"
        #expect(bodies == texts, "\(kind): \(bodies.count) of \(texts.count), \(wrong)")
        #expect(isDone, "\(kind)")
    }

    /// Has the database note what is set aside, and until then take a third of a second for each page after the presence: live messages
    /// come before the last one, however fast the machine is.
    private static let watch = """
        CREATE TABLE test_aside(id INTEGER PRIMARY KEY);
        CREATE TABLE test_pages(steps INTEGER);
        CREATE TRIGGER test_page_slow AFTER UPDATE OF cursor ON catchup
        WHEN NEW.phase = 'after-presence' AND NEW.cursor IS NOT OLD.cursor AND NOT EXISTS (SELECT 1 FROM test_aside) BEGIN
            INSERT INTO test_pages WITH RECURSIVE steps(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM steps WHERE n < 1000000)
            SELECT count(*) FROM steps;
        END;
        CREATE TRIGGER test_aside_noted AFTER INSERT ON omemo_aside BEGIN INSERT INTO test_aside VALUES (NULL); END;
        """

    private func number(_ query: String, _ world: World) async throws -> Int? {
        Int(try await world.sql(query).trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
