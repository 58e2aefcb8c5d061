import FoundationEssentials
import Glibc

/// The program `simulate`, called by `run.py`.
///
/// - `simulate run FIRST COUNT`: a line of JSON for each seed;
/// - `simulate trace SEED`: the events, as text;
/// - `simulate shrink SEED`: the same with as few actions as still fail;
/// - `simulate serve SERVER`: the simulated server on a port of its own, printed at the start, in real time.
public enum Command {
    private static let usage = "simulate run FIRST COUNT | trace SEED | shrink SEED | serve SERVER"

    public static func run(_ arguments: [String]) -> Int32 {
        let numbers = arguments.dropFirst().compactMap { UInt64($0) }
        let path = "/dev/shm/kalij-simulation-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: path) }
        switch (arguments.first, numbers.count) {
        case ("run", 2):
            for seed in numbers[0]..<numbers[0] + numbers[1] { print(outcome(of: Plan(seed: seed), path)) }
        case ("serve", _):
            guard let profile = Profile.all.first(where: { arguments.dropFirst().first == $0.name }) else {
                print("the servers are \(Profile.all.map(\.name).joined(separator: ", "))")
                return 64
            }
            return Serving(profile).run()
        case ("trace", 1): return trace(Plan(seed: numbers[0]), path)
        case ("shrink", 1):
            let plan = Plan(seed: numbers[0])
            guard let violation = try? Simulation(plan, directory: path).run().first else {
                print("seed \(plan.seed) does not fail")
                return 0
            }
            return trace(Shrinking(directory: path, promise: violation.promise).smallest(of: plan), path)
        default:
            print(usage)
            return 64
        }
        return 0
    }

    /// The outcome of a seed, as JSON.
    private static func outcome(of plan: Plan, _ path: String) -> String {
        defer { fflush(nil) }
        let start = clock()
        let simulation = Simulation(plan, directory: path)
        var violations: [Violation]
        do { violations = try simulation.run() } catch { violations = [Violation(.simulation, "\(error)")] }
        let outcome = Outcome(
            seed: plan.seed, server: plan.profile.name, milliseconds: Double(clock() - start) / 1000,
            violations: violations.map(\.description), counts: simulation.world.counts)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return (try? encoder.encode(outcome)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    private struct Outcome: Encodable {
        let seed: UInt64
        let server: String
        let milliseconds: Double
        let violations: [String]
        let counts: Counts
    }

    private static func trace(_ plan: Plan, _ path: String) -> Int32 {
        print("seed \(plan.seed), \(plan.profile.name), \(plan.actions.count) actions")
        for action in plan.actions { print("    at \(action.time / 1000) ms: \(action.kind)") }
        let simulation = Simulation(plan, directory: path) { print($0) }
        do {
            let violations = try simulation.run()
            for violation in violations { print(violation) }
            return violations.isEmpty ? 0 : 1
        } catch {
            print("\(error)")
            return 1
        }
    }
}
