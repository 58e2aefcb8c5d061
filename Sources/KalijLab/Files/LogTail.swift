import Glibc

/// Reads the complete lines added to a growing file since the last call.
struct LogTail {
    let path: String
    private var offset: Int
    private var rest: [UInt8] = []

    init(path: String, from offset: Int = 0) {
        self.path = path
        self.offset = offset
    }

    /// The present size of a file in bytes; 0 if there is none.
    static func end(of path: String) -> Int {
        var information = stat()
        return stat(path, &information) == 0 ? Int(information.st_size) : 0
    }

    /// The new complete lines, oldest first. A last line without a newline waits for the next call.
    mutating func newLines() -> [String] {
        let bytes = readBytes(of: path, from: offset)
        offset += bytes.count
        rest.append(contentsOf: bytes)
        guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        let lines = rest[..<end].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let result = lines.map { String(decoding: $0, as: UTF8.self) }
        rest.removeSubrange(...end)
        return result
    }
}
