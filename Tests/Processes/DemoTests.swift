import Foundation
import KalijLab
import Testing

/// The demo "leaves nothing running and nothing outside its temporary directory".
@Suite(.serialized) struct DemoTests {
    @Test("the demo ends with 0 and one JSON object, and leaves nothing")
    func whole() async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let output = try await laboratory.run(
            try kalijBinary(), ["--json", "demo", "--kills", "3", "--messages", "20", "--seed", "5"],
            environment: ["TMPDIR": try temporaryFolder(of: laboratory)])
        let result = try #require(JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
        #expect(result["clean"] as? Bool == true && result["seed"] as? Int == 5)
        #expect((result["kills"] as? Int ?? 0) >= 3)
        try await expectNothingLeft(in: laboratory)
    }

    @Test("interrupted or killed in the middle, the demo leaves nothing", arguments: [SIGINT, SIGTERM, SIGKILL])
    func ended(by signal: Int32) async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let folder = try temporaryFolder(of: laboratory)
        var launch = laboratory.launch(try kalijBinary(), ["demo", "--kills", "1000"])
        launch.environment["TMPDIR"] = folder
        launch.errors = .file(laboratory.path("demo.err"))
        let demo = try Subprocess(launch)
        // Server, independent client and kalij run are all there once messages flow.
        #expect(await until { processes(mentioning: folder).contains { isRunning($0, "peer.py") } })
        #expect(await until { processes(mentioning: folder).count >= 4 })
        demo.signal(signal)
        let ending = demo.ended()
        #expect(ending == (signal == SIGKILL ? .killed(SIGKILL) : .exited(130)))
        try await expectNothingLeft(in: laboratory)
    }

    private func temporaryFolder(of laboratory: Laboratory) throws -> String {
        let folder = laboratory.path("temporary")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }

    private func expectNothingLeft(in laboratory: Laboratory) async throws {
        let folder = laboratory.path("temporary")
        let isEmpty = try await until(every: 50) {
            try processes(mentioning: folder).isEmpty && FileManager.default.contentsOfDirectory(atPath: folder).isEmpty
        }
        #expect(isEmpty)
    }

    private func isRunning(_ pid: String, _ program: String) -> Bool {
        FileManager.default.contents(atPath: "/proc/\(pid)/cmdline")?.range(of: Data(program.utf8)) != nil
    }
}

/// The processes with a text in the command line or environment.
private func processes(mentioning text: String) -> [String] {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return all.filter { Int($0) != nil }.filter { pid in
        ["cmdline", "environ"].contains { file in
            FileManager.default.contents(atPath: "/proc/\(pid)/\(file)")?.range(of: Data(text.utf8)) != nil
        }
    }
}
