import Foundation
import KalijStore
import TestSupport
import Testing

@testable import KalijCoordination

/// "A damaged `mailbox.db`: named, set aside, and everything that does not need it goes on", and what was accepted is not lost
/// silently.
@Suite struct DamageTests {
    private let scratch: ScratchDirectory
    private var path: String { Mailbox.databasePath(in: scratch.path) }

    init() throws { scratch = try ScratchDirectory() }

    @Test("nobody sets a mailbox aside while another process opens the mailbox, in an optimized build too")
    func locked() throws {
        let lock = try LockFile(path: scratch.file("driver.lock"))
        try Mailbox.whileInPlace(scratch.path) { #expect(!lock.lock(byte: 0)) }
        #expect(lock.lock(byte: 0))
    }

    /// An accident of the file.
    enum Accident: CaseIterable {
        case header, firstPage, everything, truncated, directory
    }

    /// A mailbox at rest, with three parcels; the first was taken over.
    private func mailbox() throws -> MailboxQueue.Progress {
        let store = try MailboxQueue(directory: scratch.path)
        for number in 1...3 {
            _ = try store.add("message", [UInt8(number)], from: "juliet@example.org", now: Int64(number))
        }
        return MailboxQueue.Progress(mailbox: try store.name(), last: 1)
    }

    private func damage(_ accident: Accident) throws {
        let url = URL(fileURLWithPath: path)
        var bytes = try Data(contentsOf: url)
        switch accident {
        case .header: bytes.replaceSubrange(0..<100, with: Data(repeating: 0xA5, count: 100))
        case .firstPage: bytes.replaceSubrange(0..<4096, with: Data(repeating: 0xA5, count: 4096))
        case .everything: bytes = Data(repeating: 0xA5, count: bytes.count)
        case .truncated: bytes = bytes.prefix(4096 * 3)
        case .directory:
            try FileManager.default.removeItem(at: url)
            return try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        }
        try bytes.write(to: url)
    }

    @Test(
        "a damaged mailbox is set aside under a telling name, and a new mailbox with the readable parcels takes its place",
        arguments: Accident.allCases)
    func setAside(_ accident: Accident) throws {
        let place = try mailbox()
        try damage(accident)
        let damage = try #require(try Mailbox.setAsideIfDamaged(scratch.path, taken: place, now: 1_795_262_400_000))
        #expect(damage.path == path + ".damaged-1795262400")
        #expect(FileManager.default.fileExists(atPath: damage.path))
        let store = try MailboxQueue(directory: scratch.path)
        let found = try store.parcels(after: 0).map(\.payload)
        #expect(found.count == damage.recovered)
        switch accident {
        case .header, .firstPage: #expect(found == [[2], [3]] && damage.lost == 0)
        case .everything, .directory: #expect(found.isEmpty && damage.lost == nil)
        case .truncated: #expect(damage.lost != 0 || found == [[2], [3]], "nothing is lost silently")
        }
        #expect(try store.name() != place.mailbox)
        _ = try store.add("message", [4], from: "juliet@example.org", now: 4)
        #expect(try Mailbox.setAsideIfDamaged(scratch.path, taken: nil, now: 1) == nil)
    }

    @Test("a mailbox in use by another writer is not damaged, nor is a directory without rights")
    func notDamaged() throws {
        _ = try mailbox()
        let writer = try Database(path: path, durability: .process)
        try writer.execute("BEGIN IMMEDIATE")
        #expect(try Mailbox.setAsideIfDamaged(scratch.path, taken: nil, now: 1) == nil)
        for code in [StoreError.Code.busy, .full, .inputOutput, .outOfMemory, .newerVersion, .cannotOpen] {
            #expect(!StoreError(code, "").isDamage(ofMailboxIn: scratch.path))
        }
        try writer.execute("ROLLBACK")
    }

    @Test("a process with the damaged mailbox open sees that the mailbox has lost its place")
    func inPlace() throws {
        let place = try mailbox()
        let old = try MailboxQueue(directory: scratch.path)
        #expect(old.isInPlace)
        try damage(.firstPage)
        _ = try Mailbox.setAsideIfDamaged(scratch.path, taken: place, now: 1)
        #expect(!old.isInPlace)
    }
}
