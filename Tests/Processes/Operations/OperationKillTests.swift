import Foundation
import Glibc
import KalijLab
import TestSupport
import Testing

/// All that the two sides of a conversation say to each other, under kills: texts, corrections, reactions, retractions, receipts and
/// markers. The log of an independent client has the last word: what the client has sent is what is shown here, and what was accepted
/// here has reached the client once.
///
/// `Scripts/long operation-kills 1000` gives the long form: so many kills at each server, both at the same time.
@Suite(.serialized) struct OperationKillTests {
    private static let kills = LongForm.amount("operation-kills", short: 8)

    @Test(
        "a client is killed again and again while both sides send, correct, retract, react and read: none lost, doubled or misplaced"
    )
    func killed() async throws {
        // At the same time: most of the time is waiting.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for kind in LongForm.servers {
                group.addTask {
                    let conversation = try await KilledConversation(kind)
                    defer { conversation.world.close() }
                    try await conversation.run(kills: Self.kills)
                    try await conversation.settle()
                }
            }
            try await group.waitForAll()
        }
    }
}

/// A conversation of bob, who uses slixmpp, with alice, whose `kalij` is killed.
private actor KilledConversation {
    nonisolated let world: World
    private let kind: ServerKind
    private let chat: Chat
    private let random: RandomChoices
    private let start = Date()
    private let end: SessionEnd
    /// The ids of what `kalij` has accepted, in order.
    private var accepted: [String] = []
    private var texts: [String] = []
    private var (kills, losses) = (0, 0)
    /// The longest life of a process, in milliseconds: a process that is never online on a busy machine says nothing.
    private let longest: Int

    /// A session without a connection ends after so many seconds.
    private static let patience = 3

    init(_ kind: ServerKind) async throws {
        self.kind = kind
        random = RandomChoices("operations", part: kind == .prosody ? 0 : 1)
        world = try await World(
            kind, options: ServerOptions(resumeSeconds: Self.patience), users: ["alice", "bob", "carol"])
        end = try await SessionEnd("carol", in: world)
        try await world.online()
        let begin = Date()
        let run = try world.kalij.running()
        try await run.event("online")
        longest = 600 + Int(Date().timeIntervalSince(begin) * 3000)
        #expect(run.end(SIGTERM).status == 0)
        // Only the newest outcomes are kept.
        _ = try await world.sql(
            """
            CREATE TABLE refused(id TEXT, problem TEXT);
            CREATE TRIGGER refused AFTER UPDATE OF problem ON intent WHEN new.problem <> '' BEGIN
                INSERT INTO refused VALUES (new.id, new.problem); END;
            """)
        // From now on bob may know what alice has got and read.
        #expect(try world.kalij("send", "bob@localhost", "answer", "--id", "answer", "--queue-only").status == 0)
        (accepted, texts) = (["answer"], ["answer"])
        chat = try await world.peer("bob").chat(
            with: "alice@localhost", label: "question", rate: 12, originIDs: true, receipts: true, operations: true,
            markers: true, seed: random.number(0...999_999))
    }

    func run(kills: Int) async throws {
        while self.kills < kills {
            let run = try world.kalij.running()
            try say()
            let read = try world.kalij.begun(["read", "bob@localhost"])
            try await sleep(for: random.milliseconds(30...longest))
            // A command that reads may die between its commit and the socket.
            for process in [run, read] {
                process.process.signal(SIGKILL)
                process.process.ended()
            }
            self.kills += 1
            // A loss makes the next processes read the archive from the first message that waits. If sessions are lost faster than
            // processes of half a second can read, nothing leaves.
            if self.kills % 40 == 4 {
                losses += 1
                try await end.wait(for: world.kalij, in: world.laboratory)
            }
        }
    }

    /// A text and an operation are accepted.
    private func say() throws {
        let text = "answer-\(kills)"
        let target = texts[max(0, texts.count - random.number(1...5))]
        try accept(["send", "bob@localhost", text, "--id", text])
        texts.append(text)
        let question = random.one(of: try chat.events().filter { $0.event == "sent" }.compactMap(\.id).suffix(30))
        let emoji = random.one(of: [["👍"], ["❤️", "🎉"], []]) ?? []
        let operations =
            [["correct", target, "corrected \(kills)"], ["react", target] + emoji, ["retract", target]]
            + (question.map { [["react", $0] + emoji] } ?? [])
        try accept(random.one(of: operations) ?? [])
    }

    private func accept(_ words: [String]) throws {
        let result = try world.kalij.run(["--json"] + words + ["--queue-only"])
        #expect(result.status == 0, "\(result)")
        accepted.append(try #require(try result.objects().first?["origin_id"] as? String))
    }

    // MARK: The end

    /// Waits until all is quiet, and compares the books.
    func settle() async throws {
        _ = try await chat.stopSending()
        let run = try world.kalij.running()
        try await run.event("caught_up")
        // After so many kills there may be a lot to send again.
        let hasLeft = try await until(every: 500) {
            try await world.sql("SELECT count(*) FROM message WHERE state IN ('queued', 'sent')") == "0\n"
        }
        #expect(hasLeft, "\(kind)")
        // Only what is here can be read.
        let isHere = try await until(every: 300) {
            let books = OperationBooks(try chat.events())
            let here = Set(try records().map(\.id))
            return books.bobs.allSatisfy { here.contains($0) || (books.texts[$0]?.isRetracted ?? false) }
        }
        #expect(isHere, "\(kind)")
        // While the archive is read, messages may still move behind what the user reads.
        let isRead = try await until(every: 300) {
            let read = try world.kalij("read", "bob@localhost", "--wait")
            return try read.status == 0 && unread() == [0]
        }
        #expect(isRead, "\(kind)")
        // What comes twice comes before what is said now.
        try accept(["send", "bob@localhost", "the end", "--id", "the-end"])
        let isSame = try await until(every: 300) { try await differences(isLast: false).isEmpty }
        let books = OperationBooks(try chat.events())
        let refused = try await refusals()
        print(
            """
            operations at \(kind): \(kills) kills within \(longest) ms, \(losses) lost sessions, \(Int(Date().timeIntervalSince(start))) s; bob: \
            \(books.bobs.count) texts, \(books.receipts.count) receipts, \(books.markers.count) markers; alice: \
            \(books.alices.count) texts, \(books.delivered.count) receipts; \(books.changes.count) operations, \(refused.count) \
            more refused
            """)
        let problems = try await differences(isLast: true)
        #expect(isSame && problems.isEmpty, "\(kind): \(problems.count), \(problems.prefix(8))")
        #expect(run.end(SIGTERM).status == 0)
        await chat.quit()
    }

    /// The ids of refused operations, and why.
    private func refusals() async throws -> [String: String] {
        let lines = try await world.sql("SELECT id, problem FROM refused").split(separator: "\n")
        return Dictionary(
            lines.map { $0.split(separator: "|", maxSplits: 1).map(String.init) }.map { ($0[0], $0.last ?? "") }
        ) { $1 }
    }

    private func unread() throws -> [Int] {
        try world.kalij("--json", "chats").objects().compactMap { $0["unread"] as? Int }
    }

    private func records() throws -> [MessageRecord] {
        try MessageRecord.all(try world.kalij("--json", "history", "bob@localhost", "--limit", "1000000"))
    }

    /// Everything that is not as bob's log says.
    /// - Parameter isLast: also looks for things that may take a little longer; they are expected then.
    private func differences(isLast: Bool) async throws -> [String] {
        let books = OperationBooks(try chat.events())
        let records = try records()
        var problems = books.errors + books.bounced + books.differences(from: records, mayMiss: kind.erasesRetracted)
        let refused = try await refusals()
        if books.received != accepted.filter({ refused[$0] == nil }) {
            problems.append(Self.difference("accepted", books.received, accepted.filter { refused[$0] == nil }))
        }
        let owed = books.owedReceipts(mayMiss: kind.erasesRetracted)
        if books.receipts.count != Set(books.receipts).count || !owed.isSubset(of: books.receipts)
            || !Set(books.receipts).isSubset(of: books.asking)
        {
            problems.append(Self.difference("receipts", books.receipts.sorted(), books.asking.sorted()))
        }
        problems += markerProblems(books, records)
        guard isLast || problems.isEmpty else { return problems }
        problems += try await rowProblems(books) + eventProblems(books)
        let reasons = Set(refused.values).subtracting(["the message is gone", "there is no such message"])
        return problems + reasons.map { "refused: \($0)" }
    }

    /// At most one marker for a text, each later than the one before, the last behind all that is to be read.
    private func markerProblems(_ books: OperationBooks, _ records: [MessageRecord]) -> [String] {
        let places = Dictionary(books.bobs.enumerated().map { ($1, $0) }) { $1 }
        let marked = books.markers.map { places[$0] ?? -1 }
        let last = books.bobs.lastIndex { books.texts[$0]?.isRetracted == false } ?? -1
        return (zip(marked, marked.dropFirst()).allSatisfy { $0 < $1 } ? [] : ["markers out of order: \(marked)"])
            + ((marked.last ?? -1) >= last
                ? []
                : [
                    "the last marker is for \(marked.last ?? -1), not \(last); here in the order \(records.compactMap { places[$0.id] }.suffix(40))"
                ])
    }

    /// The stored operations: each once, on the message that it names.
    private func rowProblems(_ books: OperationBooks) async throws -> [String] {
        let rows = try await world.sql(
            """
            SELECT m.message_id, o.kind, coalesce(t.message_id, 'nothing') FROM operation o
            JOIN message m ON m.id = o.message LEFT JOIN message t ON t.id = o.target
            """
        ).split(separator: "\n").map(String.init).sorted()
        let expected = books.changes.map { change in
            let row = "\(change.id)|\(change.kind)|"
            let isMissing = kind.erasesRetracted && books.texts[change.target]?.isRetracted ?? false
            return row + (isMissing && rows.contains(row + "nothing") ? "nothing" : change.target)
        }.sorted()
        return rows == expected ? [] : [Self.difference("rows of operations", rows, expected)]
    }

    /// The application is told of each receipt once, and nothing is unread.
    private func eventProblems(_ books: OperationBooks) async throws -> [String] {
        let told = try await world.sql(
            """
            SELECT m.message_id FROM event e JOIN message m ON m.id = e.message WHERE e.kind = 'delivered' AND m.shown = 1
            """
        ).split(separator: "\n").map(String.init)
        // A text may be displayed before its receipt is here.
        let twice = Dictionary(grouping: told) { $0 }.filter { $1.count > 1 }.keys
        let unread = try unread()
        let place = try await world.sql(
            "SELECT d.position, m.message_id, m.catchup, c.number, c.phase FROM displayed d, catchup c LEFT JOIN message m ON m.id = d.message"
        )
        return twice.map { "told twice of the receipt for \($0)" }
            + (unread == [0] ? [] : ["unread: \(unread), displayed and reading: \(place)"])
    }

    private static func difference(_ what: String, _ mine: [String], _ expected: [String]) -> String {
        let twice = Dictionary(grouping: mine) { $0 }.filter { $1.count > 1 }.keys
        let place = zip(mine, expected).enumerated().first { $1.0 != $1.1 }
        return """
            \(what): \(mine.count), not \(expected.count); missing \(Set(expected).subtracting(mine).sorted().prefix(5)), not \
            expected \(Set(mine).subtracting(expected).sorted().prefix(5)), twice \(twice.sorted().prefix(5)), first difference \
            \(place.map { "\($0.offset): \($0.element)" } ?? "none")
            """
    }
}
