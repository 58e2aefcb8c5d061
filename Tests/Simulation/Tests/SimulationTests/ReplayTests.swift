import Glibc
import Testing

@testable import Simulation

extension MachineTests {
    @Suite struct ReplayTests {
        @Test("the same seed does the same, to the last byte", arguments: [1, 17, 42] as [UInt64])
        func replay(_ seed: UInt64) throws {
            var transcripts: [[String]] = [[], []]
            for index in 0..<2 {
                let simulation = Simulation(Plan(seed: seed), directory: "/dev/shm/kalij-replay-\(getpid())") {
                    transcripts[index].append($0)
                }
                _ = try simulation.run()
            }
            #expect(transcripts[0].count > 100)
            #expect(transcripts[0] == transcripts[1])
        }

        @Test("each seed has at least 50 stanzas and 3 faults")
        func size() {
            for seed in 1...2000 as ClosedRange<UInt64> {
                let kinds = Plan(seed: seed).actions.map(\.kind)
                #expect(kinds.count { $0.isFault } >= 3, "seed \(seed)")
                #expect(kinds.count { $0.isStanza } >= 50, "seed \(seed)")
            }
        }

        @Test("what is left of a failing plan fails still, and nothing can be left out of it")
        func shrinking() throws {
            let shrinking = Shrinking { plan in
                plan.actions.contains { if case .powerFailure = $0.kind { true } else { false } }
            }
            let plan = (1...100 as ClosedRange<UInt64>).lazy.map { Plan(seed: $0) }.first { shrinking.fails($0) }
            #expect(shrinking.smallest(of: try #require(plan)).actions.count == 1)
        }
    }
}
