import KalijPush
import Testing

@Suite("The blocklist")
struct BlocklistTests {
    private let key = HashedKey(high: 1, low: 2)

    @Test("a hit extends the block, never shortens it")
    func hit() {
        var list = Blocklist(limit: 10)
        _ = list.block(key, reason: .dead, for: 86_400_000, again: 432_000_000, now: 0)
        #expect(list.hit(key, extension: 600_000, now: 1_000) == nil)
        #expect(list.expiry(key, now: 1_000) == 86_400_000)
        let change = list.hit(key, extension: 600_000, now: 86_300_000)
        #expect(change?.expires == 86_900_000)
        #expect(change?.version == 2)
        #expect(list.reason(key, now: 86_899_999) == .dead)
        #expect(list.reason(key, now: 86_900_000) == nil)
        #expect(list.hit(key, extension: 600_000, now: 86_900_000) == nil)
    }

    @Test("1,000,000 random steps against a simple model: cleanup removes expired entries and nothing else")
    func model() {
        var list = Blocklist(limit: 150)
        var model: [UInt64: Milliseconds] = [:]
        var stored: [UInt64: Milliseconds] = [:]
        var generator = Generator(seed: 9)
        var now: Milliseconds = 1
        var wrong = 0
        var shortened = 0
        for _ in 0..<1_000_000 {
            now += Milliseconds.random(in: 0...500, using: &generator)
            let number = UInt64.random(in: 0..<200, using: &generator)
            // In different parts of the table.
            let key = HashedKey(high: number << 56, low: number)
            let live = model[number].flatMap { $0 > now ? $0 : nil }
            switch Int.random(in: 0..<10, using: &generator) {
            case 0, 1:
                let isRoom = stored[number] != nil || stored.count < 150
                let change = list.block(key, reason: .bad, for: 20_000, again: 60_000, now: now)
                if (change != nil) != isRoom { wrong += 1 }
                if isRoom {
                    model[number] = max(live ?? 0, now + (live == nil ? 20_000 : 60_000))
                    stored[number] = model[number]
                }
            case 2, 3, 4:
                _ = list.hit(key, extension: 5_000, now: now)
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
            var list = Blocklist(limit: 10)
            for index in order { list.merge(changes[index], now: 0) }
            #expect(list.reason(key, now: 1) == nil)
        }
    }

    @Test("bounded: a key beyond the limit is not blocked")
    func full() {
        var list = Blocklist(limit: 1)
        #expect(list.block(key, reason: .dead, for: 10, again: 10, now: 0) != nil)
        #expect(list.block(HashedKey(high: 3, low: 3), reason: .dead, for: 10, again: 10, now: 0) == nil)
        #expect(list.count == 1)
    }
}
