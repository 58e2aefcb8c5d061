import KalijAddress
import KalijStore
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Rules.md, durability 6: an accepted message has its id, which is also its origin-id, and is on the disk.
struct AcceptingTests {
    @Test("an accepted message is a row and a stanza in the queue, which the next process finds")
    func accepted() throws {
        let harness = try StepHarness()
        let message = try harness.accept("Wherefore art thou?\r\n\tRomeo & <Juliet> \u{1F339}")
        let other = try Database(reading: harness.directory.databasePath)
        let entries = try OutboundQueue(database: other, account: harness.account.id).entries(after: 0, limit: 10)
        #expect(entries.map(\.message) == [message.id])
        let stanza = try Element.parse(
            StepHarness.inClient(String(decoding: try #require(entries.first).stanza, as: UTF8.self)))
        #expect(stanza["id"] == message.originID)
        #expect(stanza.child("origin-id", "urn:xmpp:sid:0")?["id"] == message.originID)
        #expect(stanza.child("body")?.text == message.body)
        let found = try HistoryReader(other).messages(of: harness.account, with: nil, limit: 5)
        var expected = message
        expected.waitsFor = try #require(found.first?.waitsFor)
        #expect(found == [expected])
    }

    @Test(
        "text that XML cannot carry is refused, and nothing is stored",
        arguments: [("\u{0}", 0), ("bell \u{7}", 7), ("\u{1B}[0m", 0x1B), ("\u{FFFE}", 0xFFFE), ("\u{FFFF}", 0xFFFF)])
    func characters(_ body: String, _ code: UInt32) throws {
        let harness = try StepHarness()
        #expect(throws: AcceptError.notXML(code)) { try harness.accept(body) }
        #expect(try harness.history().isEmpty)
    }

    @Test("an empty message and a message over the limit are refused; the largest message within the limit is not")
    func sizes() throws {
        let harness = try StepHarness()
        #expect(throws: AcceptError.empty) { try harness.accept("") }
        // Without the additions of features.
        let long = String(repeating: "x", count: OutgoingMessages.maxStanzaSize)
        guard case .tooLong(let bytes)? = #expect(throws: AcceptError.self, performing: { try harness.accept(long) })
        else {
            return
        }
        let largest = String(long.dropLast(bytes - OutgoingMessages.maxStanzaSize))
        #expect(throws: AcceptError.tooLong(OutgoingMessages.maxStanzaSize + 1)) { try harness.accept(largest + "x") }
        // "&" takes five bytes on the wire.
        #expect(throws: AcceptError.self) { try harness.accept(String(repeating: "&", count: 13_000)) }
        try harness.accept(largest)
        #expect(try harness.history().count == 1)
        #expect(try harness.queue().count == 1)
    }

    @Test("messages accepted by several processes are sent in the order of their places in the history")
    func order() throws {
        let harness = try StepHarness()
        let others = try (0..<3).map { _ in try Database(path: harness.directory.databasePath, durability: .machine) }
        for number in 0..<12 {
            _ = try OutgoingMessages.accept(
                "\(number)", to: try JID("romeo@example.net"), of: harness.account, in: others[number % 3],
                clock: harness.clock.clock)
        }
        #expect(try harness.queue() == (0..<12).map { "message chat \($0)" })
        #expect(try harness.history() == (0..<12).map { "out \($0) (queued)" })
    }
}
