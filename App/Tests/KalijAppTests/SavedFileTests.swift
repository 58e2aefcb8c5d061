import Foundation
import KalijClient
import Testing

@testable import KalijApp

@Suite struct SavedFileTests {
    private func inFolder(_ body: (String) throws -> Void) throws {
        let folder = NSTemporaryDirectory() + "/" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    @Test func `A copy replaces a file when it is whole`() throws {
        try inFolder { folder in
            let verses = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
            try verses.write(to: URL(fileURLWithPath: folder + "/verses"))
            try Data("mine".utf8).write(to: URL(fileURLWithPath: folder + "/copy"))
            try SavedFile.copy(folder + "/verses", to: folder + "/copy")
            #expect(FileManager.default.contents(atPath: folder + "/copy") == verses)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["copy", "verses"])
        }
    }

    @Test func `What fails leaves the former file, and none beside it`() throws {
        try inFolder { folder in
            try Data("mine".utf8).write(to: URL(fileURLWithPath: folder + "/copy"))
            #expect(throws: FileError(.notFound)) { try SavedFile.copy(folder + "/nowhere", to: folder + "/copy") }
            #expect(throws: FileError(.inputOutput)) { try SavedFile.copy(folder, to: folder + "/copy") }
            #expect(throws: FileError(.diskFull)) {
                try SavedFile.write(folder + "/copy") { _ throws(FileError) in throw FileError(.diskFull) }
            }
            #expect(FileManager.default.contents(atPath: folder + "/copy") == Data("mine".utf8))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["copy"])
            #expect(throws: FileError(.notFound)) { try SavedFile.copy(folder + "/copy", to: folder + "/none/copy") }
            // Each write to it fails as on a full disk.
            let full = open("/dev/full", O_WRONLY)
            defer { close(full) }
            #expect(throws: FileError(.diskFull)) { try SavedFile.write([1, 2, 3], to: full) }
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `A start that has failed is tried again by itself`() async throws {
        let path = NSTemporaryDirectory() + "/" + UUID().uuidString
        try Data().write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let backend = Backend(AccountDirectory(path), retryPause: .milliseconds(20))
        for await look in backend.looks() {
            guard case .driving(let driving) = look else { continue }
            if case .failed = driving {
                try? FileManager.default.removeItem(atPath: path)
                try FileManager.default.createDirectory(
                    atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            } else {
                #expect([.here, .noAccount].contains(driving))
                break
            }
        }
        await backend.stop()
    }
}
