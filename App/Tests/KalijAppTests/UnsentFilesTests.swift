import Foundation
import Testing

@testable import KalijApp

// The name that Swift Testing has, too.
private typealias File = KalijApp.Attachment

@Suite struct UnsentFilesTests {
    private let nurse = ConversationKey(account: "a@b", jid: "nurse@b")
    private let romeo = ConversationKey(account: "a@b", jid: "romeo@b")

    /// A file with its bytes, in a folder of its own.
    private func pasted() throws -> File {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.path + "/picture.png"
        try Data("a picture".utf8).write(to: URL(fileURLWithPath: path))
        return try #require(File(path, isTemporary: true))
    }

    @Test func `Files are kept for their own conversation, once`() throws {
        let file = try pasted()
        var works = UnsentFiles()
        works.keep([file], for: nurse)
        #expect(works.take(romeo).isEmpty)
        #expect(works.take(nurse) == [file])
        #expect(works.take(nurse).isEmpty)
        file.discard()
    }

    @Test func `Files that come late are added to those that wait`() throws {
        let (first, second) = (try pasted(), try pasted())
        var works = UnsentFiles()
        works.keep([first], for: nurse)
        works.keep([second], for: nurse)
        works.keep([], for: nurse)
        #expect(works.take(nurse) == [first, second])
        [first, second].forEach { $0.discard() }
    }

    @Test func `At the end of the app pasted bytes are removed, chosen files are not`() throws {
        let (temporary, other) = (try pasted(), try pasted())
        let chosen = try #require(File(other.path))
        var works = UnsentFiles()
        works.keep([temporary, chosen], for: romeo)
        works.discard()
        #expect(!FileManager.default.fileExists(atPath: temporary.path))
        #expect(FileManager.default.fileExists(atPath: chosen.path))
        #expect(works.take(romeo).isEmpty)
        other.discard()
    }
}
