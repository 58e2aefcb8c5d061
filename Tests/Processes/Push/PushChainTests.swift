import Foundation
import KalijLab
import TestSupport
import Testing

@Suite("A device without Apple and Google is woken")
struct PushChainTests {
    private static let messages = LongForm.amount("push-chain", short: 9)

    @Test(
        """
        a message, Prosody, kalij-push, Prosody's mod_unified_push, a distributor, the session bus, `kalij wake`: each message is printed once, \
        whoever is killed
        """
    )
    func chain() async throws {
        let scratch = try ScratchDirectory()
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Programs/push_chain.py").path
        let kalij = try #require(
            ProcessInfo.processInfo.environment["KALIJ_BINARY"], "KALIJ_BINARY names the command to test")
        var launch = Launch(executable: "/usr/bin/python3")
        launch.arguments = [program, kalij, try PushStage.command(), scratch.file("chain"), "\(Self.messages)"]
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
