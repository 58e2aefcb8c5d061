import Foundation

/// The whole of a file that the system makes while it is read, such as `/proc/self/maps`. `String(contentsOfFile:)` ends
/// with the first read, after 4 KiB at most, because the system calls the size 0.
/// - Throws: if there is no such file.
public func systemFile(_ path: String) throws -> String {
    let file = try FileHandle(forReadingFrom: URL(filePath: path))
    return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
}
