import KalijClient
import Testing

@testable import KalijApp

@Suite struct ThreadTests {
    private let key = ConversationKey(account: "romeo@example.org", jid: "juliet@example.org")
    private let day: Int64 = 86_400_000
    private let noon: Int64 = 1_750_000_000_000

    private func message(_ id: Int64, _ author: String = "Juliet", at: Int64, isOwn: Bool = false) -> MessageRow {
        MessageRow(id: id, author: author, isOwn: isOwn, text: "line \(id)", at: at)
    }

    private func page(_ messages: [MessageRow], gaps: [Int: [GapRow]] = [:], hasOlder: Bool = false) -> Page {
        var page = Page()
        (page.messages, page.gaps, page.hasOlder) = (messages, gaps, hasOlder)
        return page
    }

    @Test func `Each day has a line, and the unread messages too`() {
        var thread = Thread(key, isGroup: false)
        thread.firstUnread = 3
        _ = thread.read(page([message(1, at: noon), message(2, at: noon + day), message(3, at: noon + day + 1)]))
        #expect(
            thread.rows == [
                .day(noon), .message(message(1, at: noon), showsAuthor: false, continues: false),
                .day(noon + day), .message(message(2, at: noon + day), showsAuthor: false, continues: false),
                .unread, .message(message(3, at: noon + day + 1), showsAuthor: false, continues: false),
            ])
        #expect(thread.opening == 4)
    }

    @Test func `A conversation without unread messages opens at its end`() {
        var thread = Thread(key, isGroup: false)
        _ = thread.read(page([message(1, at: noon), message(2, at: noon)]))
        #expect(thread.opening == 2)
    }

    @Test func `In a group the author is named once for messages in a row`() {
        var thread = Thread(key, isGroup: true)
        _ = thread.read(
            page([
                message(1, at: noon), message(2, at: noon), message(3, "Nurse", at: noon),
                message(4, "You", at: noon, isOwn: true),
            ]))
        let shown = thread.rows.compactMap { row -> Bool? in
            if case .message(_, let showsAuthor, _) = row { showsAuthor } else { nil }
        }
        #expect(shown == [true, false, true, false])
    }

    @Test func `Whoever has taken a name in a group is named anew`() {
        var (one, same, other) = (message(1, at: noon), message(2, at: noon), message(3, at: noon))
        (one.proven, same.proven, other.proven) = (.stay(1), .stay(1), .stay(2))
        var thread = Thread(key, isGroup: true)
        _ = thread.read(page([one, same, other]))
        let shown = thread.rows.compactMap { row -> Bool? in
            if case .message(_, let showsAuthor, _) = row { showsAuthor } else { nil }
        }
        #expect(shown == [true, false, true])
        #expect(one.authorKey == same.authorKey && one.authorKey != other.authorKey)
    }

    @Test func `A gap is where messages are missing`() {
        let inside = GapRow(kind: .missing, before: noon + 5, room: nil)
        let before = GapRow(kind: .missing, before: noon, room: nil)
        let end = GapRow(kind: .unread, before: nil, room: nil)
        var thread = Thread(key, isGroup: false)
        _ = thread.read(
            page([message(1, at: noon), message(2, at: noon + 5)], gaps: [0: [before], 1: [inside], 2: [end]]))
        #expect(
            thread.rows.map { if case .gap(let gap) = $0 { gap } else { nil } }.compactMap { $0 } == [
                before, inside, end,
            ])
        #expect(thread.rows.last == .gap(end))
        _ = thread.read(page([message(1, at: noon), message(2, at: noon + 5)], gaps: [0: [before]], hasOlder: true))
        #expect(!thread.rows.contains(.gap(before)))
    }

    @Test func `Only messages of others at the end have arrived`() {
        var thread = Thread(key, isGroup: false)
        #expect(thread.read(page([message(5, at: noon)])).isEmpty)
        let arrived = thread.read(
            page([
                message(9, at: noon - 9), message(5, at: noon), message(6, at: noon + 1),
                message(7, at: noon + 2, isOwn: true),
            ]))
        #expect(arrived.map(\.id) == [6])
    }

    @Test func `The first message of an empty conversation has arrived; its history has not`() {
        var thread = Thread(key, isGroup: true)
        #expect(thread.read(page([])).isEmpty)
        var other = thread
        #expect(thread.read(page([message(4, at: noon), message(5, at: noon, isOwn: true)])).map(\.id) == [4])
        #expect(other.read(page((1...30).map { message($0, at: noon) })).isEmpty)
    }

    @Test func `What comes after the clock was set back has arrived`() {
        var thread = Thread(key, isGroup: false)
        _ = thread.read(page([message(5, at: noon)]))
        let arrived = thread.read(page([message(5, at: noon), message(6, at: noon - 3_600_000)]))
        #expect(arrived.map(\.id) == [6])
    }

    @Test func `Of a burst the first messages come in this frame, and the rest in the next ones`() {
        let gap = GapRow(kind: .missing, before: nil, room: nil)
        let before = page([message(1, at: noon), message(2, at: noon)])
        var now = page((2...30).map { message($0, at: noon) }, gaps: [0: [gap], 5: [gap], 29: [gap]])
        var isLimited = now.limitArrivals(since: before)
        #expect(isLimited)
        #expect(now.messages.map(\.id) == Array(2...12) && Set(now.gaps.keys) == [0, 5])
        let next = now
        now = page((5...13).map { message($0, at: noon) }, gaps: [9: [gap]])
        isLimited = now.limitArrivals(since: next)
        #expect(!isLimited)
        #expect(now.messages.map(\.id) == Array(5...13) && Set(now.gaps.keys) == [9])
    }

    @Test func `Of messages that are all new the last are shown, with the gaps between them`() {
        let gap = GapRow(kind: .missing, before: nil, room: nil)
        var now = page((101...180).map { message($0, at: noon) }, gaps: [50: [gap], 60: [gap], 80: [gap]])
        let isLimited = now.limitArrivals(since: page([message(1, at: noon)]))
        #expect(!isLimited)
        #expect(now.messages.map(\.id) == Array(151...180) && Set(now.gaps.keys) == [10, 30] && now.hasOlder)
        #expect(!now.hasNewer)
    }

    @Test func `Above the oldest message stands what precedes it, and no other gap`() {
        var thread = Thread(key, isGroup: false)
        var top = page([message(1, at: noon)], gaps: [0: [GapRow(kind: .missing, before: nil, room: nil)]])
        top.show(OlderHistory.State?.none)
        _ = thread.read(top)
        #expect(thread.rows.first == .gap(GapRow(kind: .missing, before: nil, room: nil)) && thread.oldest == nil)
        let states: [(OlderHistory.State, Beginning, action: String?, oldest: Int64?)] = [
            (.available, .available, "Load", 1), (.reading, .reading, nil, nil), (.failed("x"), .failed, "Retry", nil),
            (.complete, .complete, nil, nil),
        ]
        for (state, beginning, action, oldest) in states {
            top.show(state)
            _ = thread.read(top)
            #expect(thread.rows.first == .beginning(beginning) && thread.rows.count == 3)
            #expect(beginning.action == action && thread.oldest == oldest)
        }
        #expect(Beginning.complete.words == "The beginning of the conversation")
    }

    @Test func `Reading on goes by steps, and ends at the newest`() {
        var thread = Thread(key, isGroup: false)
        var held = page((1...300).map { message($0, at: noon + $0) })
        #expect(thread.newer == nil)
        held.hasNewer = true
        _ = thread.read(held)
        #expect(thread.newer == Window(first: 61, count: 300))
        held.messages = Array(held.messages.suffix(10))
        _ = thread.read(held)
        #expect(thread.newer == Window())
    }
}

@Suite struct ListChangeTests {
    private func applied(_ changes: [ListChange], to old: [Int], new: [Int]) -> [Int] {
        var rows = old
        for change in changes {
            let behind = rows.count - change.at - change.removed
            let end = new.count - behind
            rows.replaceSubrange(change.at..<(change.at + change.removed), with: new[(end - change.inserted)..<end])
        }
        return rows
    }

    @Test func `A row that comes first is one removal and one insertion`() {
        let old = Array(0..<2000)
        let new = [1500] + old.filter { $0 != 1500 }
        let changes = ListChange.between(old, and: new)
        #expect(changes == [ListChange(at: 1500, removed: 1, inserted: 0), ListChange(at: 0, removed: 0, inserted: 1)])
        #expect(applied(changes, to: old, new: new) == new)
    }

    @Test func `New rows at the end are one insertion`() {
        #expect(ListChange.between([1, 2], and: [1, 2, 3, 4]) == [ListChange(at: 2, removed: 0, inserted: 2)])
        #expect(ListChange.between([1], and: [1]).isEmpty)
    }

    @Test(arguments: 0..<200)
    func `All changes make the new list`(_ seed: Int) {
        var random = Generator(state: UInt64(seed) &* 7919 &+ 1)
        let old = (0..<Int.random(in: 0...40, using: &random)).map { _ in Int.random(in: 0...30, using: &random) }
        let new = (0..<Int.random(in: 0...40, using: &random)).map { _ in Int.random(in: 0...30, using: &random) }
        #expect(applied(ListChange.between(old, and: new), to: old, new: new) == new)
    }

    private struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
    }
}
