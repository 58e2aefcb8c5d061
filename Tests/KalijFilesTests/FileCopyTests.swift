import Foundation
import Testing

@testable import KalijFiles

/// A copy that the user saves over another file.
@Suite struct FileCopyTests {
    private func inFolder(_ body: (String) throws -> Void) throws {
        let folder = NSTemporaryDirectory() + "/" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data("mine".utf8).write(to: URL(fileURLWithPath: folder + "/copy"))
        try body(folder)
    }

    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    @Test("a copy replaces a file when it is whole")
    func replaces() throws {
        try inFolder { folder in
            let verses = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
            try verses.write(to: URL(fileURLWithPath: folder + "/verses"))
            try FileCopy.make(of: folder + "/verses", replacing: folder + "/copy")
            #expect(FileManager.default.contents(atPath: folder + "/copy") == verses)
            let left = try names(folder)
            #expect(left == ["copy", "verses"])
        }
    }

    @Test("what fails leaves the former file, and none beside it")
    func fails() throws {
        try inFolder { folder in
            #expect(throws: FileError(.notFound)) {
                try FileCopy.make(of: folder + "/nowhere", replacing: folder + "/copy")
            }
            #expect(throws: FileError.self) {
                try FileCopy.make(of: folder, replacing: folder + "/copy")
            }
            #expect(throws: FileError(.notFound)) {
                try FileCopy.make(of: folder + "/copy", replacing: folder + "/none/copy")
            }
            #expect(throws: FileError.self) {
                try FileCopy.make(of: folder + "/copy", replacing: folder)
            }
            #expect(FileManager.default.contents(atPath: folder + "/copy") == Data("mine".utf8))
            let left = try names(folder)
            #expect(left == ["copy"])
        }
    }
}
