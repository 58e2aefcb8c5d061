import Foundation
import Glibc
import KalijLab
import TestSupport
import Testing

/// Receipts under kills: the other side has one for each message, and the application is told of each once.
@Suite(.serialized) struct ReceiptKillTests {
    /// `Scripts/long receipt-kills 1000` is the long form.
    private let kills = LongForm.amount("receipt-kills", short: 12)

    @Test(
        "XEP-0184: a client is killed again and again while both sides ask for receipts; each is given once, and told once"
    )
    func killed() async throws {
        let random = RandomChoices("receipts")
        let world = try await World()
        defer { world.close() }
        try await world.online()
        // From now on bob may know that alice is online.
        #expect(try world.kalij("send", "bob@localhost", "before").status == 0)
        let chat = try await world.peer("bob").chat(
            with: "alice@localhost", label: "question", rate: 25, originIDs: true, receipts: true)
        for number in 0..<kills {
            let run = try world.kalij.running()
            #expect(try world.kalij("send", "bob@localhost", "answer \(number)", "--queue-only").status == 0)
            try await sleep(for: random.milliseconds(30...900))
            run.process.signal(SIGKILL)
            run.process.ended()
        }
        let sent = try await chat.stopSending()
        let run = try world.kalij.running()
        var ids = try chat.events().filter { $0.event == "sent" }.compactMap(\.id)
        var receipts: [String] = []
        var delivered: [String] = []
        let isDone = try await until(every: 100) {
            receipts = try chat.events().filter { $0.event == "receipt" }.compactMap(\.id)
            delivered = try await world.sql(
                """
                SELECT m.body || ' ' || count(*) FROM event e JOIN message m ON m.id = e.message
                WHERE e.kind = 'delivered' AND m.body LIKE 'answer %' GROUP BY m.id
                """
            ).split(separator: "\n").map(String.init)
            return Set(receipts).isSuperset(of: ids) && delivered.count == kills
        }
        let missing = Set(ids).subtracting(receipts)
        // What comes twice comes before the receipt of a later message.
        ids.append("later")
        try chat.send(
            raw: """
                <message to='alice@localhost' type='chat' id='later'><body>later</body><request xmlns='urn:xmpp:receipts'/></message>
                """)
        #expect(
            try await until(every: 100) { try chat.events().contains { $0.event == "receipt" && $0.id == "later" } })
        receipts = try chat.events().filter { $0.event == "receipt" }.compactMap(\.id)
        print("receipts: \(kills) kills, \(sent) messages, \(receipts.count) receipts given, \(delivered.count) told")
        #expect(isDone, "missing: \(missing.count) receipts; told: \(delivered.sorted())")
        #expect(receipts.sorted() == ids.sorted())
        #expect(delivered.sorted() == (0..<kills).map { "answer \($0) 1" }.sorted())
        #expect(run.end(SIGTERM).status == 0)
        await chat.quit()
    }
}
