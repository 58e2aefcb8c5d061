import Foundation
import KalijPush

/// The memory of 1,000,000 blocked and 1,000,000 known tokens.
func memory() throws -> Figure {
    let before = residentMegabytes()
    let now: Milliseconds = 1_700_000_000_000
    var list = TokenBlocklist(limit: 1_000_000)
    var known = KnownTokens(limit: 1_000_000, lifetime: 7 * 86_400_000)
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<1_000_000 {
        let key = HashedKey(high: generator.next(), low: generator.next())
        _ = list.block(key, reason: .dead, for: 86_400_000, again: 1, now: now)
        known.succeeded(HashedKey(high: generator.next(), low: generator.next()), now: now)
    }
    let after = residentMegabytes()
    print("\(list.count) blocked, \(known.count) known: \(Int(after - before)) MB more, \(Int(after)) MB in all")
    withExtendedLifetime((list, known)) {}
    return Figure(
        name: "memory of 1,000,000 blocked and 1,000,000 known tokens", value: after - before, unit: " MB", bound: 200)
}
