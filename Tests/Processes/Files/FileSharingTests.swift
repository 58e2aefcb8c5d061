import Foundation
import Glibc
import KalijLab
import TestSupport
import Testing

/// Files that are shared while nothing works: no driver, no room, no time, no network.
@Suite(.serialized) struct FileSharingTests {
    /// `Scripts/long file-sharing 500` gives the long form: so many files.
    private let count = LongForm.amount("file-sharing", short: 16)

    @Test("files are accepted while the driver is stopped, and arrive once each", arguments: LongForm.servers)
    func stopped(_ kind: ServerKind) async throws {
        var options = ServerOptions()
        options.uploads = UploadLimits(dailyQuota: 1_000_000_000_000)
        let world = try await World(kind, options: options)
        defer { world.close() }
        let run = try world.kalij.running()
        try await run.event("caught_up")
        var sent = SentFiles(world)
        run.process.signal(SIGSTOP)
        let start = Date()
        for number in 0..<count {
            _ = try sent.accept(number == 0 ? 1 : Int.random(in: 1...65_536))
            if number == count * 3 / 4 { run.process.signal(SIGCONT) }
        }
        let accepted = Date().timeIntervalSince(start)
        #expect(try await until(every: 200) { try sent.isDone() })
        print(
            "\(kind): \(count) files accepted in \(accepted) s, at the server after \(Date().timeIntervalSince(start)) s"
        )
        #expect(run.end(SIGTERM).status == 0)
        try await sent.expectWhole()
        #expect(try world.files(in: "out") == [], "what is sent leaves the disk")
    }

    @Test("what is no file is refused with the reason, and nothing is left")
    func odd() async throws {
        let world = try await World()
        defer { world.close() }
        let folder = world.laboratory.path("odd")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        #expect(mkfifo(folder + "/fifo", 0o600) == 0)
        #expect(symlink(folder + "/nothing", folder + "/dangling") == 0)
        #expect(symlink("/dev/zero", folder + "/to-device") == 0)
        try Data().write(to: URL(fileURLWithPath: folder + "/empty"))
        let cases = [
            ("fifo", "not a regular file"), ("dangling", "no such file"), ("to-device", "not a regular file"),
            ("empty", "empty"), ("missing", "no such file"), ("", "not a regular file"), ("fifo/x", ""),
        ]
        for (name, words) in cases + [("../../../../../../../../dev/zero", "not a regular file")] {
            let outcome = try world.kalij("send", "bob@localhost", "--file", folder + "/" + name)
            #expect(outcome.status == 65, "\(name): \(outcome.errors)")
            #expect(words.isEmpty || outcome.errors.lowercased().contains(words), "\(name): \(outcome.errors)")
        }
        // A link to a file is as good as the file.
        try Data("hello".utf8).write(to: URL(fileURLWithPath: folder + "/text.txt"))
        #expect(symlink("text.txt", folder + "/link") == 0)
        #expect(try world.kalij("send", "bob@localhost", "--file", folder + "/link", "--queue-only").status == 0)
        #expect(try world.files(in: "out").count == 1)
        let bodies = try await world.peer("bob").archive().compactMap(\.body)
        #expect(bodies == [])
    }

    @Test(
        "a file over the service's limit is refused at once, or fails with the reason", arguments: LongForm.servers)
    func large(_ kind: ServerKind) async throws {
        var options = ServerOptions()
        options.uploads = UploadLimits(size: 5000)
        let world = try await World(kind, options: options)
        defer { world.close() }
        let path = world.laboratory.path("large.bin")
        try Data(count: 5001).write(to: URL(fileURLWithPath: path))
        // The service is not known before the first session.
        let first = try world.kalij("--json", "send", "bob@localhost", "--file", path)
        #expect(first.status == 65 && first.errors.contains("5000"), "\(kind): \(first.status) \(first.errors)")
        let before = try world.files(in: "out")
        let refused = try world.kalij("send", "bob@localhost", "--file", path, "--queue-only")
        #expect(refused.status == 65 && refused.errors.contains("5000"), "\(kind): \(refused.errors)")
        #expect(try world.files(in: "out") == before)
        let listed = try world.kalij("--json", "uploads")
        if let id = try listed.objects().first?["origin_id"] as? String {
            // Another try fails again; who gives up the file has the room back.
            #expect(try world.kalij("uploads", "retry", id).status == 0)
            let again = try world.kalij("--json", "uploads").objects().first
            #expect(again?["transfer"] as? String == "failed" && "\(again ?? [:])".contains("5000"), "\(again ?? [:])")
            #expect(try world.kalij("uploads", "cancel", id).status == 0)
        }
        #expect(try world.kalij("uploads").status == 1)
        #expect(try world.files(in: "out") == [], "\(kind)")
        try Data(count: 5000).write(to: URL(fileURLWithPath: path))
        #expect(try world.kalij("send", "bob@localhost", "--file", path, "--confirm").status == 0)
    }

    @Test("a disk fills while a file is accepted, and while one is fetched: an error, nothing half, and later the file")
    func full() async throws {
        let world = try await World()
        defer { world.close() }
        let limited = { (arguments: String, hasFailed: () async throws -> Bool) -> Kalij.Outcome in
            // No file may be longer than 2 MB: a write beyond fails as on a full disk.
            let script = "trap '' XFSZ; ulimit -f 4096; exec \"$kalij\" --data \"$data\" \(arguments)"
            var launch = world.laboratory.launch("/bin/sh", ["-c", script])
            launch.environment["kalij"] = world.kalij.executable
            launch.environment["data"] = world.kalij.data
            let running = try Running(launch)
            running.process.closeInput()
            // A download waits for another try.
            _ = try await until(every: 50) {
                if !running.isRunning { return true }
                return try await hasFailed()
            }
            let status = running.end(SIGTERM).status
            return Kalij.Outcome(status: status ?? -1, output: try running.output, errors: try running.errors)
        }
        let path = world.laboratory.path("film.mp4")
        let handle = try #require(FileHandle(forReadingAtPath: "/dev/urandom"))
        try #require(try handle.read(upToCount: 5 << 20)).write(to: URL(fileURLWithPath: path))
        let refused = try await limited("send bob@localhost --file \(path) --queue-only") { false }
        #expect(refused.status == 65 && refused.errors.contains("a limit"), "\(refused.status) \(refused.errors)")
        print("accepting: \(refused.status) \(refused.errors)")
        #expect(try world.files(in: "out") == [])
        #expect(try world.kalij("uploads").status == 1)

        let bob = try Kalij(data: world.laboratory.path("bob-data"))
        #expect(try bob.login(world.server, as: "bob@localhost").status == 0)
        #expect(try bob("send", "alice@localhost", "--file", path, "--confirm").status == 0)
        #expect(try world.kalij("wake").status == 0)
        let row = try await world.sql("SELECT message FROM attachment").dropLast()
        let cut = try await limited("download \(row)") {
            try await world.sql("SELECT failures > 0 FROM attachment") == "1\n"
        }
        print("fetching: \(cut.status) \(cut.errors)")
        #expect(cut.status == 75, "\(cut.status) \(cut.errors)")
        let part = try world.files(in: "in")
        #expect(part.contains("\(row).part") && !part.contains { $0.hasSuffix(".mp4") }, "\(part)")
        // There is room again.
        let fetched = try world.kalij("download", String(row))
        #expect(fetched.status == 0, "\(fetched.errors)")
        let stored = String(fetched.output.dropLast())
        #expect(try SentFiles.sum(of: stored) == SentFiles.sum(of: path))
        #expect(try world.files(in: "in") == ["1", "1/film.mp4"])

        // The message is forgotten: the file goes.
        #expect(try world.kalij("forget", String(row), "--wait").status == 0)
        #expect(try world.files(in: "in") == ["1"])
    }

    @Test("with less than 64 MiB of the disk left nothing is accepted, and nothing fetched")
    func reserve() async throws {
        let world = try await World()
        defer { world.close() }
        let path = world.laboratory.path("small.bin")
        try Data(count: 100_000).write(to: URL(fileURLWithPath: path))
        let script = """
            mkdir -p "$data.copy" && cp -a "$data/." "$data.copy" && mount -t tmpfs -o size=40m,mode=700 none "$data" && \
            cp -a "$data.copy/." "$data" && "$kalij" --data "$data" send bob@localhost --file \(path) --queue-only; \
            echo "status $?"; ls -A "$data/files/out"
            """
        var launch = world.laboratory.launch(
            "/usr/bin/unshare", ["-rm", "--propagation", "private", "/bin/sh", "-c", script])
        launch.environment["kalij"] = world.kalij.executable
        launch.environment["data"] = world.kalij.data
        let running = try Running(launch)
        #expect(running.process.ended()?.status == 0)
        let (output, errors) = (try running.output, try running.errors)
        #expect(output == "status 75\n" && errors.contains("disk"), "\(output) \(errors)")
    }

    @Test(
        "a process whose time ends in an upload counts no failure, and the next goes on", arguments: LongForm.servers
    )
    func budget(_ kind: ServerKind) async throws {
        let link = try BadLink()
        let world = try await link.world(kind)
        defer { world.close() }
        var sent = SentFiles(world)
        // The whole file takes longer than any budget here.
        try await link.tell("rate 20000")
        _ = try sent.accept(3_000_000)
        var hasBegun = false
        // A busy machine needs a larger one to begin.
        for budget in [5, 10, 20, 40, 80] where !hasBegun {
            let flush = try world.kalij("flush", "--budget", "\(budget)")
            let row = try await world.sql("SELECT state, failures, coalesce(reason, '') FROM upload")
            #expect(row.hasSuffix("|0|\n") && !row.hasPrefix("failed"), "\(kind): \(row), \(flush.errors)")
            #expect(flush.status == 75, "\(kind): \(flush.status), \(flush.errors)")
            hasBegun = try !link.events("up").isEmpty
        }
        #expect(hasBegun, "\(kind)")
        try await link.tell("rate 0")
        #expect(try world.kalij("flush", "--budget", "300").status == 0)
        try await sent.expectWhole()
    }

    @Test("an upload without a network is cancelled, another tried again; files of a logged-out account leave the disk")
    func givingUp() async throws {
        let link = try BadLink()
        let world = try await link.world(.prosody)
        defer { world.close() }
        var (sent, gone) = (SentFiles(world), SentFiles(world))
        let run = try world.kalij.running()
        try await run.event("caught_up")
        try await link.tell("close")
        let cancelled = try gone.accept(70_000)
        let kept = try sent.accept(50_000)
        let isWaiting = try await until {
            try world.kalij("--json", "uploads").objects().first?["reason"] as? String != nil
        }
        #expect(isWaiting, "the reason is listed")
        #expect(try world.kalij("uploads", "cancel", cancelled, "--wait").status == 0)
        #expect(try await until { try world.files(in: "out").count == 1 })
        #expect(try world.kalij("uploads", "cancel", "nobody-knows", "--wait").status == 65)
        // It would retry by itself, too.
        #expect(try world.kalij("uploads", "pause", kept, "--wait").status == 0)
        try await link.tell("open")
        #expect(try world.kalij("uploads", "retry", kept, "--wait").status == 0)
        try await run.event("state") {
            $0["origin_id"] as? String == kept && $0["state"] as? String == "acked"
        }
        try await sent.expectWhole()
        #expect(try world.kalij("uploads", "cancel", kept, "--wait").status == 65, "it is sent")

        try await link.tell("close")
        _ = try gone.accept(10_000)
        _ = try await until { try world.kalij("uploads").status == 0 }
        #expect(run.end(SIGTERM).status == 0)
        #expect(try world.files(in: "out").count == 1)
        #expect(try world.kalij("logout", "alice@localhost").status == 0)
        #expect(try await until { try world.files(in: "out") == [] })
        try await link.tell("open")
        #expect(try world.kalij.login(world.server).status == 0)
        #expect(try world.kalij("flush").status == 0)
        try await sent.expectWhole()
    }
}

extension World {
    /// The paths of files and folders in a folder of alice's files.
    func files(in folder: String) throws -> [String] {
        ((try? FileManager.default.subpathsOfDirectory(atPath: kalij.data + "/files/" + folder)) ?? []).sorted()
    }
}
