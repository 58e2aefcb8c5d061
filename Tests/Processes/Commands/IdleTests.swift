import Foundation
import KalijLab
import TestSupport
import Testing

/// The cost of an idle `kalij run`.
@Suite(.serialized) struct IdleTests {
    /// "At most 10 voluntary context switches in 60 idle seconds". How much of the files is resident is the system's choice: the
    /// system maps what is cached around each page that is touched. So only what is the process's own has a bound.
    /// `Scripts/long idle 60` is the long form.
    @Test("an idle account takes 4 MB of its own, and a voluntary context switch in 6 s")
    func idle() async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let server = try await startedServer(.prosody, in: laboratory, users: ["alice"])
        let kalij = try Kalij(data: laboratory.path("data"))
        #expect(try kalij.login(server).status == 0)
        let run = try kalij.running()
        try await run.event("caught_up")
        // Some seconds after a bind there is something left to do, on a slow machine later: the first quiet window counts. A process that
        // wakes up again and again has none.
        let seconds = LongForm.amount("idle", short: 12)
        var switches = 0
        let isQuiet = try await until {
            let before = try run.procStatus("voluntary_ctxt_switches")
            try await sleep(for: .seconds(seconds))
            switches = try run.procStatus("voluntary_ctxt_switches") - before
            print("idle: \(switches) voluntary context switches in \(seconds) s")
            return switches <= (seconds + 5) / 6
        }
        #expect(isQuiet, "\(switches)")
        let peak = try run.procStatus("VmHWM")
        // What the session took to catch up is released in its first pause of 10 s.
        var own = 0
        let isSmall = try await until {
            own = try run.procStatus("RssAnon")
            return own <= 4_000
        }
        print("idle: RssAnon \(own) kB, VmHWM \(peak) kB, \(switches) voluntary context switches in \(seconds) s")
        #expect(isSmall, "\(own) kB")
        // In order: `Packaging/link-order` wants the list of called functions, which a killed process does not write.
        #expect(run.end(SIGTERM).status == 0)
    }
}
