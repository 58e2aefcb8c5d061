import Foundation
import Glibc
import KalijLab
import Testing

/// The outcome of a file is told as soon as the outcome is known, and not when a wait ends.
@Suite struct FileOutcomeTests {
    @Test("download ends as soon as the file is here: beside a process that drives, and when it drives by itself")
    func download() async throws {
        let world = try await World()
        defer { world.close() }
        let bob = try EncryptedUser("bob", world)
        try await bob.ready()
        let path = world.laboratory.path("picture.bin")
        try Data(repeating: 7, count: 30_000).write(to: URL(fileURLWithPath: path))
        for id in ["beside", "alone"] {
            #expect(try world.kalij("send", "bob@localhost", "--file", path, "--id", id).status == 0)
        }
        let hasCome = try await until(every: 100) { try bob.messages().count == 2 }
        #expect(hasCome)
        try fetch("beside", bob, world)
        bob.end()
        try fetch("alone", bob, world)
    }

    private func fetch(_ id: String, _ bob: EncryptedUser, _ world: World) throws {
        let start = Date()
        let copy = world.laboratory.path("copy-" + id)
        let result = try bob.kalij("download", id, "--to", copy)
        #expect(result.status == 0, "\(id): \(result)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: copy)) == Data(repeating: 7, count: 30_000))
        // Without the signal the command looks again after a minute in which nothing has moved. It has not waited for that.
        let seconds = Date().timeIntervalSince(start)
        print("download \(id): \(seconds) s")
        #expect(seconds < 60, "\(id)")
    }

    @Test("a file whose time comes while nothing else happens asks for its slot then, and not with the next stanza")
    func due() async throws {
        let world = try await World()
        defer { world.close() }
        try await world.online()
        let path = world.laboratory.path("picture.bin")
        try Data(repeating: 7, count: 30_000).write(to: URL(fileURLWithPath: path))
        // The service is known afterwards.
        #expect(try world.kalij("send", "bob@localhost", "--file", path, "--confirm").status == 0)
        #expect(try world.kalij("send", "bob@localhost", "--file", path, "--queue-only").status == 0)
        // Takes the file over, and moves none. It is not owed by this process: nothing is to be opened.
        let wake = try world.kalij("--json", "wake", "--budget", "300")
        #expect(wake.status == 0 && !wake.output.contains("reopen"), "\(wake)")
        let later = Date().addingTimeInterval(9)
        _ = try await world.sql("UPDATE upload SET not_before = \(Int(later.timeIntervalSince1970 * 1000))")
        #expect(try world.kalij("uploads").output.contains("waiting"))
        let run = try world.kalij.running()
        try await run.event("caught_up")
        // A server that is stopped sends no stanza.
        _ = await until { Date() > later.addingTimeInterval(-1) }
        let server = try #require(world.server.pid)
        kill(-server, SIGSTOP)
        let asks = try await until { try await world.sql("SELECT state FROM upload") == "asking\n" }
        let row = try await world.sql("SELECT * FROM upload")
        kill(-server, SIGCONT)
        #expect(asks, "\(row)")
        let hasLeft = try await until(every: 200) { try world.kalij("uploads").status == 1 }
        let left = try world.kalij("uploads").output
        #expect(hasLeft, "\(left)")
        #expect(run.end(SIGTERM).status == 0)
    }
}
