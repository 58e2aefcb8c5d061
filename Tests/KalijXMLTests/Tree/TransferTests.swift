import KalijXML
import Synchronization
import Testing

/// "Element is not Sendable: a completed stanza leaves the parser through one audited transfer box and has one owner
/// from then on." That these compile is half of the test: the compiler checks each crossing.
@Suite struct TransferTests {
    @globalActor private actor Keeping {
        static let shared = Keeping()
    }

    @Keeping private final class Keeper {
        private var stanzas: [Element] = []
        func take(_ stanza: Element) { stanzas.append(stanza) }
        func names() -> [String] { stanzas.map { $0["id"] ?? "" }.sorted() }
        func first() -> sending Element? { stanzas.first?.copy() }
    }

    private final class Mailbox: Sendable {
        private let slot = Mutex<UncheckedSending<Element>?>(nil)

        func put(_ stanza: sending Element) {
            var box: UncheckedSending<Element>? = UncheckedSending(stanza)
            slot.withLock { swap(&$0, &box) }
        }

        var isEmpty: Bool { slot.withLock { $0 == nil } }

        func take() -> sending Element? {
            var box: UncheckedSending<Element>?
            slot.withLock { swap(&$0, &box) }
            switch consume box {
            case .some(let box): return box.take()
            case nil: return nil
            }
        }
    }

    @Test("a stanza goes from the closure to an actor")
    func toActor() async throws {
        let keeper = await Keeper()
        try await withThrowingTaskGroup(of: Void.self) { group in
            let parser = StreamParser()
            let stanzas = (0..<200).map { "<message id='\($0 + 100)'><body>text</body></message>" }.joined()
            try parser.feed(Array((streamHeader + stanzas).utf8)) { event in
                guard case .element(let stanza) = event else { return }
                group.addTask { @Keeping in keeper.take(stanza) }
            }
            try await group.waitForAll()
        }
        #expect(await keeper.names() == (100..<300).map { "\($0)" })
        // An actor gives out a copy of its own element.
        let copy = try #require(await keeper.first())
        copy["id"] = "changed"
        #expect(copy.child("body", "jabber:client")?.text == "text")
        #expect(await keeper.names().contains("changed") == false)
    }

    @Test("stanzas go through a lock from one thread to another, while both work")
    func throughLock() async throws {
        let mailbox = Mailbox()
        let reader = Task.detached {
            var (sum, seen) = (0, 0)
            while seen < 500 {
                guard let stanza = mailbox.take() else {
                    await Task.yield()
                    continue
                }
                stanza["seen"] = "yes"
                sum += Int(stanza["id"] ?? "") ?? 0
                seen += 1
            }
            return sum
        }
        for number in 0..<500 {
            let stanza = try Element.parse("<message xmlns='urn:x:\(number)' id='\(number)'/>")
            mailbox.put(stanza)
            while !mailbox.isEmpty { await Task.yield() }
        }
        #expect(await reader.value == (0..<500).reduce(0, +))
    }
}
