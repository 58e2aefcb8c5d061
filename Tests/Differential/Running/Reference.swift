import Foundation

/// Another project's program that gets the same questions: one process, all questions in a file, all answers in
/// another.
struct Reference {
    let interpreter: String
    let script: String

    /// Prosody's own `stanza:find`, from the Debian package.
    static let prosody = Reference(interpreter: "/usr/bin/lua5.4", script: "find.lua")
    /// lxml, from the Debian package.
    static let lxml = Reference(interpreter: "/usr/bin/python3", script: "dump.py")

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs the program.
    ///
    /// - Parameter questions: The program's standard input.
    /// - Returns: The program's standard output.
    /// - Throws: ``Failure`` if the program is missing or does not end with status 0; a test must not pass without the
    ///   program.
    func answers(_ questions: [UInt8]) async throws -> [UInt8] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kalij-differential-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (asked, answered, complaints) = (
            folder.appending(path: "in"), folder.appending(path: "out"), folder.appending(path: "err")
        )
        try Data(questions).write(to: asked)
        for file in [answered, complaints] { try Data().write(to: file) }

        let process = Process()
        process.executableURL = URL(filePath: interpreter)
        process.arguments = [
            URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .appending(path: "Programs").appending(path: script).path
        ]
        process.standardInput = try FileHandle(forReadingFrom: asked)
        process.standardOutput = try FileHandle(forWritingTo: answered)
        process.standardError = try FileHandle(forWritingTo: complaints)
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do {
                try process.run()
            } catch {
                continuation.resume(
                    throwing: Failure(description: "\(interpreter) is missing (Scripts/install-packages): \(error)"))
            }
        }
        guard process.terminationStatus == 0 else {
            let text = try String(decoding: Data(contentsOf: complaints), as: UTF8.self)
            throw Failure(description: "\(script) ended with \(process.terminationStatus): \(text)")
        }
        return try [UInt8](Data(contentsOf: answered))
    }
}

/// Reads a reference's output: lines, and blocks of bytes with their length in a line.
struct Reading {
    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { place >= bytes.count }

    mutating func line() throws -> String {
        guard let end = bytes[place...].firstIndex(of: 0x0A) else {
            throw Reference.Failure(description: "no more lines")
        }
        defer { place = end + 1 }
        return String(decoding: bytes[place..<end], as: UTF8.self)
    }

    mutating func block(_ length: Int) throws -> [UInt8] {
        guard length >= 0, length <= bytes.count - place else { throw Reference.Failure(description: "a block is cut") }
        defer { place += length }
        return Array(bytes[place..<(place + length)])
    }
}
