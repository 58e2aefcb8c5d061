import Foundation
import KalijLab
import Testing

/// "`kalij wake --listen SOCKET` waits to be started by a push from a local stand-in of the push service."
@Suite(.serialized) struct ListenTests {
    @Test("each push to the socket starts a run; simultaneous pushes are one")
    func pushes() async throws {
        let world = try await World()
        defer { world.close() }
        try await world.online()
        let socket = world.laboratory.path("push.sock")
        let listener = try RoleProcess(
            ["wake", "--listen", socket, "--budget", "300"], executable: world.kalij.executable, data: world.kalij.data,
            in: world.laboratory, files: world.laboratory.path("listener"))
        #expect(await until { FileManager.default.fileExists(atPath: socket) })
        #expect(try world.kalij.driver() == nil, "nobody is to drive before there is a push")

        try await world.send(["one"])
        try await push(socket, world)
        #expect(await until { listener.shown.count == 1 }, "\(listener.errors)")
        #expect(try await until { try world.kalij.driver() == nil })

        // Three at once: one run drives, the others hand over their push.
        try await world.send(["two", "three"])
        for _ in 0..<3 { try await push(socket, world) }
        #expect(await until { Set(listener.shown).count == 3 }, "\(listener.errors)")
        #expect(try await until { try world.kalij.driver() == nil })
        #expect(listener.shown.count == 3, "\(listener.output)")
        #expect(listener.errors.isEmpty)

        // Without news the run prints nothing, and no process stays.
        let runs = try await world.takeovers()
        try await push(socket, world)
        #expect(try await until { try await world.takeovers() > runs && children(of: listener.pid).isEmpty })
        #expect(listener.shown.count == 3)
        #expect(listener.isRunning)
        listener.signal(SIGTERM)
        #expect(await listener.end() != nil)
    }

    /// "It must refuse anything that is not a socket of ours that nobody listens on."
    @Test("existing files are left alone: a file, a folder, a link to a socket, a socket with a listener")
    func refuses() async throws {
        let world = try await World()
        defer { world.close() }
        func path(_ name: String) -> String { world.laboratory.path(name) }
        try "precious".write(toFile: path("file"), atomically: false, encoding: .utf8)
        try FileManager.default.createDirectory(atPath: path("folder"), withIntermediateDirectories: false)
        let listener = try world.kalij.begun(["wake", "--listen", path("taken.sock")])
        #expect(await until { FileManager.default.fileExists(atPath: path("taken.sock")) })
        try FileManager.default.createSymbolicLink(atPath: path("link"), withDestinationPath: path("taken.sock"))
        for (name, status) in [("file", 65), ("folder", 65), ("link", 65), ("taken.sock", 75)] as [(String, Int32)] {
            let run = try world.kalij.begun(["wake", "--listen", path(name)])
            #expect(run.process.ended()?.status == status)
            #expect(try run.errors.contains(name))
        }
        #expect(try String(contentsOfFile: path("file"), encoding: .utf8) == "precious")
        #expect(listener.isRunning)
        let mode = try FileManager.default.attributesOfItem(atPath: path("taken.sock"))[.posixPermissions] as? Int
        #expect(mode == 0o600)
        // A killed listener leaves its socket, and the next listener takes the socket.
        _ = listener.end(SIGKILL)
        let next = try world.kalij.begun(["wake", "--listen", path("taken.sock")])
        let runs = try await world.takeovers()
        #expect(await until(every: 50) { (try? await push(path("taken.sock"), world)) != nil || !next.isRunning })
        #expect(try await until { try await world.takeovers() > runs || !next.isRunning })
        #expect(next.isRunning)
    }

    @Test("a push refused because the process has no descriptors left is reported, and served later")
    func shortage() async throws {
        let world = try await World()
        defer { world.close() }
        try await world.online()
        let socket = world.laboratory.path("push.sock")
        let listener = try world.kalij.begun(["--json", "wake", "--listen", socket, "--budget", "300"])
        #expect(await until { FileManager.default.fileExists(atPath: socket) })
        func limit(_ files: String) async throws {
            try await world.laboratory.run("/usr/bin/prlimit", ["--pid", "\(listener.pid)", "--nofile=\(files):"])
        }
        try await world.send(["one"])
        try await limit("4")
        try await push(socket, world)
        #expect(try await until { try listener.errors.contains("taking a push: ") })
        #expect(listener.isRunning)
        try await limit("1024")
        #expect(try await until { try listener.output.contains("\"one\"") }, "not served")
    }

    /// EAGAIN of fork, which root never sees.
    @Test("a run that cannot be started is reported, and started later")
    func noProcess() async throws {
        let world = try await World()
        defer { world.close() }
        // As a user limited to this process, with a directory of the user's own.
        let data = world.laboratory.path("theirs")
        try FileManager.default.copyItem(atPath: world.kalij.data, toPath: data)
        let user = 61_234 + RandomChoices("listen").number(0...900)
        let folder = (data as NSString).deletingLastPathComponent
        try await world.laboratory.run(
            "/bin/sh",
            ["-c", "chmod 711 \(folder); chown -R \(user) \(data); mkdir \(data)/s; chown \(user) \(data)/s"])
        let copy = data + "/kalij"
        // Copied by another process: a program that is being written cannot be started.
        try await world.laboratory.run("/bin/cp", [world.kalij.executable, copy])
        var launch = Launch(executable: "/usr/bin/setpriv")
        launch.arguments = [
            "--reuid", "\(user)", "--clear-groups", copy, "--data", data, "wake", "--listen", data + "/s/push.sock",
        ]
        let listener = try Running(launch)
        #expect(
            await until { FileManager.default.fileExists(atPath: data + "/s/push.sock") },
            "\((try? listener.errors) ?? "")")
        func limit(_ processes: String) async throws {
            try await world.laboratory.run(
                "/usr/bin/setpriv",
                [
                    "--reuid", "\(user)", "--clear-groups", "prlimit", "--pid", "\(listener.pid)",
                    "--nproc=\(processes):",
                ])
        }
        try await limit("1")
        try await push(data + "/s/push.sock", world)
        #expect(try await until { try listener.errors.contains("starting a run: ") })
        #expect(listener.isRunning)
        try await limit("100")
        #expect(try await until { try !children(of: listener.pid).isEmpty }, "no run was started")
    }

    /// The push service's stand-in.
    private func push(_ socket: String, _ world: World) async throws {
        let script = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
        try await world.laboratory.run("/usr/bin/python3", ["-c", script, socket])
    }

    private func children(of pid: pid_t) throws -> [Substring] {
        try String(contentsOfFile: "/proc/\(pid)/task/\(pid)/children", encoding: .utf8).split(separator: " ")
    }
}
