import KalijPush
import TestSupport
import Testing

@Suite("The blocklist")
struct BlocklistTests {
    private let key = HashedKey(high: 1, low: 2)

    @Test("a hit extends the block, never shortens it, and no further than the longest block from the last proof")
    func hit() {
        var list = TokenBlocklist(limit: 10)
        let day: Milliseconds = 86_400_000
        _ = list.block(key, reason: .dead, for: day, again: 5 * day, now: 0)
        func hit(_ now: Milliseconds) -> Milliseconds? {
            list.hit(key, extension: 600_000, longest: 5 * day, now: now)
        }
        #expect(hit(1_000) == nil)
        #expect(list.expiry(key, now: 1_000) == day)
        #expect(hit(day - 100_000) == day + 500_000)
        #expect(list.reason(key, now: day + 499_999) == .dead)
        #expect(list.reason(key, now: day + 500_000) == nil)
        #expect(hit(day + 500_000) == nil)
        // A device written to all the time: the block ends all the same.
        var now = day + 400_000
        while let end = list.expiry(key, now: now), now < 10 * day {
            _ = hit(now)
            now = max(now + 60_000, min(end - 60_000, now + 60_000))
        }
        #expect(now >= 5 * day && now < 5 * day + 120_000)
    }

    @Test("versions: the wall clock, or one more than the version before; a fast clock drags no other key along")
    func versions() {
        var list = TokenBlocklist(limit: 10)
        func block(_ key: HashedKey, _ wall: Milliseconds) -> UInt64 {
            list.block(key, reason: .dead, for: 10, again: 10, now: wall)?.version ?? 0
        }
        let other = HashedKey(high: 5, low: 6)
        #expect(block(key, 1_000) == 1_000 << 16)
        #expect(block(key, 1_000) == 1_000 << 16 + 1)
        #expect(block(key, 900) == 1_000 << 16 + 2)
        #expect(block(other, 900) == 900 << 16)
    }

    @Test("Random steps against a simple model: cleanup removes expired entries and nothing else")
    func model() {
        var list = TokenBlocklist(limit: 200)
        var model: [UInt64: Milliseconds] = [:]
        var stored: [UInt64: Milliseconds] = [:]
        var generator = Generator(seed: RandomInput.seed(9))
        var now: Milliseconds = 1
        var wrong = 0
        var shortened = 0
        for _ in 0..<RandomInput.rounds(150_000) {
            now += Milliseconds.random(in: 0...500, using: &generator)
            let number = UInt64.random(in: 0..<200, using: &generator)
            // In different parts of the table.
            let key = HashedKey(high: number << 56, low: number)
            let live = model[number].flatMap { $0 > now ? $0 : nil }
            switch Int.random(in: 0..<10, using: &generator) {
            case 0, 1:
                let change = list.block(
                    key, reason: .bad, for: 20_000, again: 60_000, now: now)
                if change == nil { wrong += 1 }
                model[number] = max(live ?? 0, now + (live == nil ? 20_000 : 60_000))
                stored[number] = model[number]
            case 2, 3, 4:
                _ = list.hit(key, extension: 5_000, longest: 1_000_000_000, now: now)
                if let live {
                    model[number] = max(live, now + 5_000)
                    stored[number] = model[number]
                }
            case 5 where Int.random(in: 0..<50, using: &generator) == 0:
                while !list.cleanUp(now) {}
                stored = stored.filter { $0.value > now }
                if list.count != stored.count { wrong += 1 }
            default:
                if (list.reason(key, now: now) != nil) != (live != nil) { wrong += 1 }
                if let live, let expiry = list.expiry(key, now: now), expiry < live { shortened += 1 }
            }
        }
        #expect(wrong == 0)
        #expect(shortened == 0)
    }

    @Test("changes from elsewhere: the newer wins, whatever the order; an unblock is a change, too")
    func merging() {
        let changes = [
            BlockChange(key: key, version: 1, expires: 10_000, reason: .dead),
            BlockChange(key: key, version: 3, expires: 5_000, reason: .none),
            BlockChange(key: key, version: 2, expires: 20_000, reason: .dead),
        ]
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [1, 0, 2]] {
            var list = TokenBlocklist(limit: 10)
            for index in order { list.merge(changes[index], now: 0) }
            #expect(list.reason(key, now: 1) == nil)
        }
    }

    @Test("bounded: the block that ends soonest makes room, unless the new block ends sooner")
    func full() {
        var list = TokenBlocklist(limit: 2)
        func block(_ number: UInt64, for time: Milliseconds) -> Bool {
            let key = HashedKey(high: 3 << 56, low: number)
            return list.block(key, reason: .dead, for: time, again: time, now: 0) != nil
        }
        #expect(block(1, for: 20))
        #expect(block(2, for: 30))
        #expect(!block(3, for: 10))
        #expect(block(4, for: 40))
        #expect(list.count == 2)
        #expect(list.reason(HashedKey(high: 3 << 56, low: 1), now: 1) == nil)
        #expect(list.reason(HashedKey(high: 3 << 56, low: 2), now: 1) == .dead)
    }
}
