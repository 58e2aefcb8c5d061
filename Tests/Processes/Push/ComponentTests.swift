import Foundation
import KalijLab
import KalijPushLab
import TestSupport
import Testing

@Suite("A component that the XMPP server does not let in", .serialized)
struct ComponentTests {
    /// The page may not be there yet.
    private func isReady(_ stage: PushStage) async -> Bool {
        await until(every: 50) { (try? await stage.page("/readyz").status) == 200 }
    }

    @Test(
        "a wrong key, and a name in use: reported in log and readiness, tried again, and in as soon as possible",
        arguments: LongForm.servers)
    func refused(kind: ServerKind) async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let port = try freePort()
        let server = try await makeServer(kind, in: laboratory, options: ServerOptions(componentPort: port))
        try await server.start()

        let first = try PushStage(folder: laboratory.path("first"), port: port)
        let right = first.settings["component"]
        var component = try #require(right as? [String: Any])
        component["componentKey"] = "hush"
        first.settings["component"] = component
        try first.writeSettings()
        try first.start()
        let refusal = "does not accept the component's key"
        #expect(await until { first.log.contains("<4>not connected to the XMPP server: the server \(refusal)") })
        let problem = try await first.page("/readyz")
        #expect(problem.status == 503)
        #expect(problem.text.contains(refusal))
        #expect(!first.log.contains("hush"))
        // Several attempts give one line.
        try await sleep(for: .seconds(3))
        #expect(first.log.split(separator: "\n").count { $0.contains(refusal) } == 1)
        // The operator corrects the settings.
        first.settings["component"] = right
        try first.writeSettings()
        first.hangUp()
        #expect(await isReady(first))

        let second = try PushStage(folder: laboratory.path("second"), port: port)
        try second.start()
        if kind == .prosody {
            let conflict = "another component is connected under this name"
            #expect(await until { second.log.contains(conflict) })
            #expect(try await second.page("/readyz").text.contains(conflict))
            #expect(try await first.page("/readyz").status == 200)
            first.kill()
        }
        #expect(await isReady(second))
        #expect(second.terminate() == .exited(0))
    }
}
