import Foundation
import KalijClient
import Testing

@testable import KalijApp

@Suite struct SmallFileTests {
    private func inFolder(_ body: (String) throws -> Void) throws {
        let folder = NSTemporaryDirectory() + "/" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    @Test func `What fails leaves the former file, and none beside it`() throws {
        try inFolder { folder in
            try SmallFile.write("mine\n", to: folder + "/choice")
            try FileManager.default.createDirectory(atPath: folder + "/choice.new", withIntermediateDirectories: false)
            #expect(throws: FileError.self) { try SmallFile.write("yours\n", to: folder + "/choice") }
            #expect(FileManager.default.contents(atPath: folder + "/choice") == Data("mine\n".utf8))
            #expect(throws: FileError(.notFound)) { try SmallFile.write("mine\n", to: folder + "/none/choice") }
        }
    }
}
