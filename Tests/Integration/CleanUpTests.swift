import Foundation
import KalijLab
import TestSupport
import Testing

/// Nothing is left running and no file is left, however a laboratory ends.
@Suite struct CleanUpTests {
    @Test("a process that left its group and its parent goes with the laboratory")
    func escapedProcess() async throws {
        let laboratory = try Laboratory()
        let script = "setsid sh -c 'sleep 600 & sleep 600' & echo started"
        #expect(try await laboratory.run("/bin/sh", ["-c", script]) == "started\n")
        try await eventually { processes(mentioning: laboratory.directory).count >= 2 }
        laboratory.close()
        #expect(processes(mentioning: laboratory.directory).isEmpty)
        #expect(!FileManager.default.fileExists(atPath: laboratory.directory))
    }

    @Test("a directory to be kept is kept, without its processes")
    func kept() async throws {
        let laboratory = try Laboratory()
        try await laboratory.run("/bin/sh", ["-c", "sleep 600 & touch file"])
        laboratory.close(keep: true)
        #expect(processes(mentioning: laboratory.directory).isEmpty)
        #expect(FileManager.default.fileExists(atPath: laboratory.path("file")))
        try FileManager.default.removeItem(atPath: laboratory.directory)
    }

    @Test("the ending of a process is told: exit status, signal, still running")
    func endings() async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let failing = try Subprocess(laboratory.launch("/bin/sh", ["-c", "exit 69"]))
        #expect(await failing.wait(seconds: hangLimit) == .exited(69))
        let sleeping = try Subprocess(laboratory.launch("/bin/sleep", ["600"]))
        #expect(await sleeping.wait(seconds: 0.05) == nil)
        sleeping.signal(SIGKILL)
        #expect(await sleeping.wait(seconds: hangLimit) == .killed(SIGKILL))
        await #expect(throws: LaboratoryError.self) { try await laboratory.run("/bin/sh", ["-c", "exit 3"]) }
    }
}
