import FoundationEssentials
import Glibc

/// `simulate SEEDS FIRST [--trace]`
public enum Command {
    public static func run(_ arguments: [String]) -> Int32 {
        let seeds = arguments.first.flatMap { UInt64($0) } ?? 100
        let first = arguments.dropFirst().first.flatMap { UInt64($0) } ?? 1
        let isTracing = arguments.contains("--trace")
        let path = "/dev/shm/kalij-simulation-\(getpid())"
        var counts = Counts()
        var failed = 0
        let start = clock()
        for seed in first..<first + seeds {
            let simulation = Simulation(Plan(seed: seed), directory: path, trace: isTracing ? { print($0) } : nil)
            defer { fflush(nil) }
            do {
                let violations = try simulation.run()
                counts += simulation.world.counts
                if !violations.isEmpty {
                    failed += 1
                    print(
                        "seed \(seed) (\(simulation.plan.profile.name)): \(violations.count) violations: \(violations[0])"
                    )
                    if isTracing { for violation in violations { print("  \(violation)") } }
                }
            } catch {
                print("seed \(seed): \(error)")
                failed += 1
            }
        }
        let seconds = Double(clock() - start) / Double(CLOCKS_PER_SEC)
        print("\(seeds) seeds, \(failed) failed, \(seconds * 1000 / Double(seeds)) ms each; \(counts)")
        return failed == 0 ? 0 : 1
    }
}
