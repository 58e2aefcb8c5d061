import Foundation
import Glibc
import TestSupport

@testable import KalijFiles

extension ScratchDirectory {
    /// Writes a file, and gives its path.
    func write(_ bytes: some Sequence<UInt8>, to name: String) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
        return file(name)
    }

    /// The names in a folder below.
    func names(in folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: file(folder))) ?? []).sorted()
    }
}

func bytes(of path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }

/// Bytes that are the same in each run, without a pattern of 64 KiB.
func sample(_ count: Int) -> [UInt8] {
    var state: UInt64 = 88_172_645_463_325_252
    return (0..<count).map { _ in
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return UInt8(truncatingIfNeeded: state)
    }
}

/// The digest by another library.
func reference(_ bytes: [UInt8]) throws -> [UInt8] {
    let scratch = try ScratchDirectory()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/sha256sum")
    process.arguments = [try scratch.write(bytes, to: "bytes")]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let line = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return stride(from: 0, to: 64, by: 2).compactMap { UInt8(line.dropFirst($0).prefix(2), radix: 16) }
}

/// Accepts as the command does, with the folder `out`, into which nobody looks.
func accept(
    _ path: String, in scratch: ScratchDirectory, id: String = "a", keepingMetadata: Bool = false, limit: Int64? = nil,
    reserve: Int64 = 0, onRead: @escaping (Int64) -> Void = { _ in }
) throws(FileError) -> AcceptedFile {
    try FileAcceptance.accept(
        path, as: id, in: scratch.file("out"), keepingMetadata, limit: limit, reserve: reserve, onRead: onRead)
}
