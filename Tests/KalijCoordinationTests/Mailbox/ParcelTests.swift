import Foundation
import KalijStore
import TestSupport
import Testing

@testable import KalijCoordination

/// "What `share` commits is a row of the mailbox database": it waits in order, and is known by a number that never comes again.
@Suite struct ParcelTests {
    let scratch: ScratchDirectory
    let store: MailboxQueue

    init() throws {
        scratch = try ScratchDirectory()
        store = try MailboxQueue(directory: scratch.path)
    }

    private func add(_ text: String) throws -> QueuedItem {
        try store.add("message", Array(text.utf8), from: "juliet@example.org", now: 7)
    }

    @Test("Parcels wait in order, and a number is never given twice")
    func order() throws {
        let parcels = [try add("one"), try add("two")]
        let other = try Mailbox(directory: scratch.path).parcels
        #expect(try other.parcels(after: 0) == parcels)
        #expect(parcels.map(\.sender) == ["juliet@example.org", "juliet@example.org"] && parcels.map(\.at) == [7, 7])
        #expect(try other.parcels(after: parcels[0].id, limit: 5) == [parcels[1]])
        try other.remove(through: parcels[1].id)
        #expect(try !other.hasParcels(after: 0))
        #expect(try add("three").id > parcels[1].id)
    }

    @Test("The place in one mailbox says nothing of another mailbox")
    func places() throws {
        let parcel = try add("one")
        let place = MailboxQueue.Progress(mailbox: try store.name(), last: parcel.id)
        #expect(try store.last(place) == parcel.id && store.last(nil) == 0)
        let other = try MailboxQueue(directory: try subdirectory())
        #expect(try other.last(place) == 0)
    }

    @Test("Reading makes no mailbox where there is none")
    func nothing() throws {
        let path = try subdirectory()
        #expect(try MailboxQueue(reading: path) == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
        #expect(try MailboxQueue(reading: scratch.path)?.parcels(after: 0).isEmpty == true)
    }

    private func subdirectory() throws -> String {
        let path = scratch.file("other")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    @Test(
        "A writer frozen within its transaction does not keep others from writing, and does not live on")
    func frozen() throws {
        _ = try add("one")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = [
            "-c",
            """
            import os, signal, sqlite3, sys
            database = sqlite3.connect(sys.argv[1], isolation_level=None)
            database.execute("BEGIN IMMEDIATE")
            print("locked", flush=True)
            os.kill(os.getpid(), signal.SIGSTOP)
            """, scratch.file("mailbox.db"),
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        defer { kill(process.processIdentifier, SIGKILL) }
        #expect(try output.fileHandleForReading.read(upToCount: 7) == Data("locked\n".utf8))
        _ = try add("two")
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL)
        #expect(try store.parcels(after: 0).count == 2)
    }
}
