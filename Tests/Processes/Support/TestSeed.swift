import Foundation
import TestSupport

/// Random choices of a test come from a seed that is printed; `SEED=...` in the environment repeats the choices.
enum TestSeed {
    static func random(_ test: String) -> Seeded {
        let seed = ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? .random(in: 0...999_999)
        print("\(test): seed \(seed)")
        return Seeded(seed)
    }
}
