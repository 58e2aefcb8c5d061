import Foundation
import KalijLab
import TestSupport
import Testing

@Suite("Distributors that lie, and strangers on the session bus")
struct UnifiedPushTests {
    private static let kills = LongForm.amount("unifiedpush", short: 8)

    @Test("no endpoint, a bad one, another sender, 10 MB, messages of strangers, kills, version 1, a bus that ends")
    func distributors() async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let server = try await startedServer(
            .prosody, in: laboratory, options: ServerOptions(componentPort: try freePort()), users: ["alice"])
        let scratch = try ScratchDirectory()
        let kalij = try Kalij(data: scratch.file("accounts"))
        #expect(try kalij.login(server).status == 0)
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Programs/unifiedpush.py").path
        var launch = Launch(executable: "/usr/bin/python3")
        launch.arguments = [program, kalij.executable, kalij.data, scratch.path, "\(Self.kills)"]
        launch.environment["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
        launch.environment["PYTHONDONTWRITEBYTECODE"] = "1"
        let running = try Running(launch)
        running.process.closeInput()
        let ending = running.process.ended()
        let (output, errors) = try (running.output, running.errors)
        print(output)
        #expect(ending?.status == 0, "\(output) \(errors)")
    }
}
