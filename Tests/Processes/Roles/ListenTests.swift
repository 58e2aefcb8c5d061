import Foundation
import KalijLab
import Testing

/// "`kalij wake --listen SOCKET` waits to be started by a push from a local stand-in of the push service."
@Suite(.serialized) struct ListenTests {
    @Test("each push to the socket starts a run; pushes that come together are one")
    func pushes() async throws {
        let world = try await RolesWorld()
        defer { world.close() }
        try await world.online()
        let socket = world.laboratory.path("push.sock")
        let listener = try RoleProcess(
            ["wake", "--listen", socket, "--budget", "20"], executable: world.kalij.executable, data: world.kalij.data,
            in: world.laboratory, files: world.laboratory.path("listener"))
        #expect(await until(5) { FileManager.default.fileExists(atPath: socket) })
        #expect(try world.kalij.driver() == nil, "nobody is to drive before there is a push")

        try await world.send(["one"])
        try await push(socket, world)
        #expect(await until(10) { listener.shown.count == 1 }, "\(listener.errors)")
        #expect(try await until(10) { try world.kalij.driver() == nil })

        // Three at once: one run drives, the others hand their push over.
        try await world.send(["two", "three"])
        for _ in 0..<3 { try await push(socket, world) }
        #expect(await until(10) { Set(listener.shown).count == 3 }, "\(listener.errors)")
        #expect(try await until(10) { try world.kalij.driver() == nil })
        #expect(listener.shown.count == 3, "\(listener.output)")
        #expect(listener.errors.isEmpty)

        // Without anything new it says nothing, and nobody is left behind.
        try await push(socket, world)
        try await Task.sleep(for: .seconds(3))
        #expect(listener.shown.count == 3)
        #expect(listener.isRunning)
        #expect(try children(of: listener.pid).isEmpty)
        listener.signal(SIGTERM)
        #expect(await listener.end(within: 1) != nil)
    }

    /// What the push service's stand-in does.
    private func push(_ socket: String, _ world: RolesWorld) async throws {
        let script = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
        try await world.laboratory.run("/usr/bin/python3", ["-c", script, socket])
    }

    private func children(of pid: pid_t) throws -> [Substring] {
        try String(contentsOfFile: "/proc/\(pid)/task/\(pid)/children", encoding: .utf8).split(separator: " ")
    }
}
