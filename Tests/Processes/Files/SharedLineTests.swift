import Foundation
import Glibc
import KalijLab
import TestSupport
import Testing

/// Files and texts on one slow line: a text does not wait for bytes.
@Suite(.serialized) struct SharedLineTests {
    @Test("a large file at 1 Mbit/s, and at 32 kbit/s: texts accepted afterwards are at the server before the file")
    func texts() async throws {
        for (kind, rate) in [(ServerKind.ejabberd, 125_000), (.prosody, 4000)] {
            let line = try await SlowLine(kind, bytesPerSecond: rate)
            defer { line.world.close() }
            // The file takes so long that a busy machine sends the texts meanwhile, too.
            let times = try await line.texts(8, beside: rate == 4000 ? 2_000_000 : 10_000_000)
            print("\(kind), \(rate) bytes/s: texts acknowledged after \(times) s")
            try await line.finish()
        }
    }

    @Test(
        "32 kbit/s: 900 kB arrive, and texts meanwhile",
        .enabled(if: LongForm.runs("slow-line"), "Scripts/long slow-line: four minutes"))
    func slow() async throws {
        let line = try await SlowLine(.prosody, bytesPerSecond: 4000)
        defer { line.world.close() }
        let times = try await line.texts(80, beside: 900_000, every: 2)
        print("32 kbit/s, 900 kB: texts acknowledged after \(times) s")
        let start = Date()
        let isDone = try await until(every: 200) { try line.isDone() }
        let left = try line.kalij("uploads").output
        #expect(isDone, "\(left)")
        print("32 kbit/s: the rest took \(Date().timeIntervalSince(start)) s")
        try await line.finish()
    }
}

/// Alice at the end of a slow line, for files and for the stream.
private final class SlowLine {
    let link: BadLink
    let world: World
    let kalij: Kalij
    private let run: Running
    private let file: String

    init(_ kind: ServerKind, bytesPerSecond: Int) async throws {
        link = try BadLink()
        world = try await link.world(kind)
        kalij = try Kalij(data: world.laboratory.path("slow-data"))
        file = world.laboratory.path("film.bin")
        let login = try kalij(
            "login", "alice@localhost", "--server", "127.0.0.1:\(link.port)", "--ca",
            world.server.certificateAuthority, environment: ["KALIJ_PASSWORD": "secret"])
        try #require(login.status == 0, "\(login.errors)")
        run = try kalij.running()
        try await run.event("caught_up")
        try await link.tell("rate \(bytesPerSecond)")
    }

    /// Sends texts while a file is uploaded; waits for each. All are at the server before the file.
    /// - Returns: the seconds to each acknowledgement, in order of size.
    func texts(_ count: Int, beside size: Int, every pause: Double = 0.1) async throws -> [Double] {
        let handle = try #require(FileHandle(forReadingAtPath: "/dev/urandom"))
        try #require(try handle.read(upToCount: size)).write(to: URL(fileURLWithPath: file))
        #expect(try kalij("send", "bob@localhost", "--file", file, "--queue-only").status == 0)
        try await run.event("upload") { $0["transfer"] as? String == "putting" }
        var times: [Double] = []
        for number in 0..<count {
            try await sleep(for: .seconds(pause))
            let start = Date()
            #expect(try kalij("send", "bob@localhost", "text \(number)", "--queue-only").status == 0)
            try await run.event("state") {
                $0["body"] as? String == "text \(number)" && $0["state"] as? String == "acked"
            }
            times.append(Date().timeIntervalSince(start))
        }
        let uploads = try kalij("--json", "uploads").objects()
        #expect(uploads.first?["transfer"] as? String == "putting", "\(world.server.kind): \(uploads)")
        let (left, size) = (uploads.first?["bytes"] as? Int ?? 0, uploads.first?["size"] as? Int ?? 0)
        #expect(left > 0 && left < size, "\(world.server.kind): \(uploads)")
        #expect(try kalij("uploads").output.contains(" of \(size) bytes: putting"))
        return times.sorted()
    }

    func isDone() throws -> Bool { try kalij("uploads").status == 1 }

    /// The file arrives, once; without the limit of the line the rest does not take long.
    func finish() async throws {
        try await link.tell("rate 0")
        #expect(try await until(every: 100) { try isDone() })
        #expect(run.end(SIGTERM).status == 0)
        var sent = SentFiles(world)
        try sent.note(file)
        try await sent.expectWhole()
    }
}
