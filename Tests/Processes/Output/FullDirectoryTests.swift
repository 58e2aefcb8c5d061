import Foundation
import Glibc
import KalijLab
import Testing

/// "A full disk: `wake` ends with 75 and the `reopen` that its help promises; `run` started on a full disk waits for room."
@Suite(.serialized) struct FullDirectoryTests {
    /// The account's directory on a small file system, visible only to processes started here.
    private final class SmallDisk {
        let world: World
        let folder: String
        private let keeper: Running

        /// Alice's directory, after a first time online.
        init() async throws {
            world = try await World()
            try await world.online()
            folder = world.laboratory.path("disk")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            var launch = Launch(executable: "/usr/bin/unshare")
            // As root, a namespace of its own suffices; otherwise the namespace also has to make the user root.
            launch.arguments =
                (geteuid() == 0 ? ["-m"] : ["-rm"]) + [
                    "/bin/sh", "-c", "mount -t tmpfs -o size=4m none '\(folder)' && echo mounted && exec sleep 3600",
                ]
            keeper = try Running(launch)
            let isMounted = try await until { try keeper.output.contains("mounted") }
            try #require(isMounted)
            try await inside("cp -a '\(world.kalij.data)' '\(folder)/data'")
        }

        private var enter: [String] {
            ["-t", "\(keeper.pid)", "-m"] + (geteuid() == 0 ? [] : ["-U", "--preserve-credentials"])
        }

        func inside(_ script: String) async throws {
            try await world.laboratory.run("/usr/bin/nsenter", enter + ["/bin/sh", "-c", script])
        }

        func fill() async throws {
            try await inside("dd if=/dev/zero of='\(folder)/filler' bs=1k 2>/dev/null; true")
        }

        func makeRoom() async throws { try await inside("rm '\(folder)/filler'") }

        func begun(_ arguments: [String]) throws -> Running {
            var launch = Launch(executable: "/usr/bin/nsenter")
            launch.arguments = enter + [world.kalij.executable, "--data", folder + "/data"] + arguments
            return try Running(launch)
        }
    }

    @Test("`run` started on a full disk says so, waits for room, and goes on by itself")
    func run() async throws {
        let disk = try await SmallDisk()
        defer { disk.world.close() }
        try await disk.fill()
        let run = try disk.begun(["--json", "run"])
        #expect(try await until { try isWaiting(run) })
        #expect(run.isRunning)
        try await disk.world.send(["meanwhile"])
        try await disk.makeRoom()
        try await run.event("message") { $0["body"] as? String == "meanwhile" }
        #expect(run.end(SIGTERM).status == 0)
    }

    /// Where not even the accounts can be read there is no event.
    private func isWaiting(_ run: Running) throws -> Bool {
        let events = try run.events().map { $0["event"] as? String }
        return try events.contains("waiting_for_storage") || run.errors.contains("cannot store")
    }

    @Test("told to end during or after the wait for room, `run` ends")
    func ends() async throws {
        let disk = try await SmallDisk()
        defer { disk.world.close() }
        let run = try disk.begun(["--json", "run"])
        try await run.event("caught_up")
        try await disk.fill()
        try await disk.world.send(["one", "two"])
        #expect(try await until { try isWaiting(run) })
        #expect(run.end(SIGTERM).status == 0)
        // The end has moved the write-ahead log into the database, and made room.
        try await disk.fill()
        let waiting = try disk.begun(["--json", "run"])
        #expect(try await until { try isWaiting(waiting) })
        #expect(waiting.end(SIGTERM).status == 0)
    }

    @Test("`wake` on a full disk ends with 75 and `reopen`; with room the next `wake` shows everything")
    func wake() async throws {
        let disk = try await SmallDisk()
        defer { disk.world.close() }
        try await disk.fill()
        try await disk.world.send(["meanwhile"])
        let wake = try disk.begun(["--json", "wake", "--budget", "6"])
        #expect(wake.process.ended()?.status == 75)
        #expect(try wake.events().last?["kind"] as? String == "reopen")
        try await disk.makeRoom()
        let next = try disk.begun(["--json", "wake"])
        #expect(next.process.ended()?.status == 0)
        #expect(try next.events().map { $0["body"] as? String } == ["meanwhile"])
    }
}
