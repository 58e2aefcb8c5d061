/// The SHA-256 of a file, computed in slices, for a thread that has other work, too.
public final class StreamingHash {
    /// Bytes of the file.
    public let length: Int64
    private let file: Descriptor
    private let digest: SHA256Stream
    private var buffer = [UInt8](repeating: 0, count: SourceFile.chunk)
    private var offset: Int64 = 0
    private var value: [UInt8]?

    /// - Throws: `FileError` if the file cannot be opened, or is no regular file.
    public init(of path: String) throws(FileError) {
        (file, length) = try Descriptor.openRegular(path)
        digest = try SHA256Stream()
    }

    /// The 32 bytes; nil before the end.
    public var sha256: [UInt8]? { value }

    /// Works on at least `bytes` bytes, or to the end.
    /// - Returns: true when `sha256` is available.
    /// - Throws: `FileError`: `.changed` if the file became shorter or longer; errors of reading.
    public func step(bytes: Int) throws(FileError) -> Bool {
        guard value == nil else { return true }
        var left = Int64(clamping: bytes)
        while left > 0, offset < length {
            let wanted = min(buffer.count, Int(clamping: length - offset))
            let count = min(wanted, try file.read(into: &buffer, at: offset))
            guard count == wanted else { throw FileError(.changed) }
            try digest.update(buffer[..<count])
            offset += Int64(count)
            left -= Int64(count)
        }
        guard offset == length else { return false }
        guard try file.status().size == length else { throw FileError(.changed) }
        value = try digest.value()
        return true
    }
}
