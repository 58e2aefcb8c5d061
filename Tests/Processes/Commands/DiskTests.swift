import Foundation
import KalijLab
import Testing

/// Places without a writable disk: a full disk, a read-only directory. In a mount namespace of its own, because root
/// may write everywhere else.
@Suite(.serialized) struct DiskTests {
    private struct Mounted {
        let laboratory: Laboratory
        let kalij: Kalij

        /// Runs a command in a directory mounted and prepared by `setup`; `$data` is the directory.
        func kalij(_ words: String, after setup: String) throws -> Kalij.Outcome {
            let script = "\(setup) && exec \"$kalij\" --data \"$data\" \(words)"
            var launch = laboratory.launch(
                "/usr/bin/unshare", ["-rm", "--propagation", "private", "/bin/sh", "-c", script])
            launch.environment["kalij"] = kalij.executable
            launch.environment["data"] = kalij.data
            launch.environment["KALIJ_PASSWORD"] = "secret"
            let running = try Running(launch)
            running.process.closeInput()
            let ending = running.process.ended()
            return Kalij.Outcome(status: ending?.status ?? -1, output: try running.output, errors: try running.errors)
        }
    }

    /// An account with two messages, and nobody online.
    private func world(_ body: (Mounted, any XMPPServer) async throws -> Void) async throws {
        let laboratory = try Laboratory()
        defer { laboratory.close() }
        let server = try await startedServer(.prosody, in: laboratory)
        let world = Mounted(laboratory: laboratory, kalij: try Kalij(data: laboratory.path("data")))
        #expect(try world.kalij.login(server).status == 0)
        #expect(try world.kalij("send", "bob@localhost", "stored").status == 0)
        #expect(try world.kalij("send", "bob@localhost", "waits", "--queue-only").status == 0)
        try await body(world, server)
    }

    private static let readOnly = "mount --bind -o ro \"$data\" \"$data\""
    /// A disk of 3 MB with the directory, filled to the last byte.
    private static let full = """
        mkdir -p "$data.copy" && cp -a "$data/." "$data.copy" && mount -t tmpfs -o size=3m,mode=700 none "$data" && \
        cp -a "$data.copy/." "$data" && { dd if=/dev/zero of="$data/filler" bs=4k 2>/dev/null; true; }
        """

    @Test(
        "reading commands work on a full disk and in a read-only directory: nothing is written to read",
        arguments: ["read-only", "full"])
    func reading(kind: String) async throws {
        try await world { world, _ in
            let setup = kind == "full" ? Self.full : Self.readOnly
            // Both with the files beside the database, as after a kill, and without.
            for beside in [true, false] {
                if beside {
                    let run = try world.kalij.running()
                    #expect(try await until { try !run.lines.isEmpty })
                    #expect(run.end(SIGKILL).status == SIGKILL)
                } else {
                    // The last process to close a database removes the files.
                    for name in ["kalij", "mailbox"] {
                        try await world.laboratory.run(
                            "/usr/bin/sqlite3", [world.kalij.data + "/\(name).db", "PRAGMA wal_checkpoint(TRUNCATE)"])
                    }
                }
                let exists = FileManager.default.fileExists(atPath: world.kalij.data + "/kalij.db-wal")
                #expect(exists == beside)
                let history = try world.kalij("history", after: setup)
                #expect(history.status == 0, "\(kind), \(beside): \(history.errors)")
                #expect(history.output.contains("stored") && history.output.contains("waits"))
                let status = try world.kalij("status", after: setup)
                #expect(status.status == 0 && status.output.contains("account: alice@localhost"), "\(status.errors)")
                for words in ["pending", "pending --results", "quarantine list"] {
                    let outcome = try world.kalij(words, after: setup)
                    #expect([0, 1].contains(outcome.status) && outcome.errors.isEmpty, "\(words): \(outcome.errors)")
                }
            }
        }
    }

    @Test(
        "writing commands name the path and the reason, and no SQL: 75 for a full disk, 78 for a read-only directory"
    )
    func writing() async throws {
        try await world { world, server in
            let login = "login alice@localhost --server 127.0.0.1:\(server.port) --ca '\(server.certificateAuthority)'"
            // On the full disk there may be room left within the database.
            for (setup, status, reason, more) in [
                (Self.full, 75, "the disk is full", []), (Self.readOnly, 78, "only be read", ["flush", login]),
            ] {
                for words in ["send bob@localhost Hi", "send bob@localhost Hi --queue-only"] + more {
                    let outcome = try world.kalij(words, after: setup)
                    #expect(outcome.status == Int32(status), "\(words): \(outcome.status) \(outcome.errors)")
                    #expect(outcome.errors.contains(world.kalij.data + "/"), "\(words): \(outcome.errors)")
                    #expect(
                        outcome.errors.contains(reason) || outcome.errors.contains("Read-only file system"),
                        "\(words): \(outcome.errors)")
                    for word in ["SELECT", "INSERT", "PRAGMA", "BEGIN", "running \""] {
                        #expect(!outcome.errors.contains(word), "\(words): \(outcome.errors)")
                    }
                }
            }
        }
    }
}
