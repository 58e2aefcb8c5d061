import Foundation
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
        let hasCome = try await until(20, every: 100) { try bob.messages().count == 2 }
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
        // Without the signal the wait lasts until something else happens, at most a minute.
        #expect(Date().timeIntervalSince(start) < 4, "\(id)")
    }
}
