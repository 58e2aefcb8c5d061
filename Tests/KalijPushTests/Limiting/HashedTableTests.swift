import Testing

@testable import KalijPush

@Suite("A table in parts")
struct HashedTableTests {
    @Test("a table works like a dictionary, and a round through the parts removes expired entries and nothing else")
    func model() {
        var table = HashedTable<UInt64>()
        var model: [HashedKey: UInt64] = [:]
        var generator = Generator(seed: 3)
        for _ in 0..<100_000 {
            let number = UInt64.random(in: 0..<3_000, using: &generator)
            let key = HashedKey(high: number &* 0x9e37_79b9_7f4a_7c15, low: number)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0:
                table[key] = nil
                model[key] = nil
            case 1:
                let isThere: Void? = table.update(key) { $0 += 1 }
                #expect((isThere != nil) == (model[key] != nil))
                model[key]? += 1
            default:
                table[key] = number
                model[key] = number
            }
            if table[key] != model[key] || table.count != model.count { Issue.record("\(number)") }
        }
        var calls = 1
        while !table.removePart(where: { _, value in value % 2 == 0 }) { calls += 1 }
        #expect(calls == 256)
        model = model.filter { $0.value % 2 != 0 }
        #expect(table.count == model.count)
        #expect(model.allSatisfy { table[$0.key] == $0.value })
    }
}
