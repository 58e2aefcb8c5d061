import Glibc

/// A file that is read from its beginning, through one buffer of 64 KiB.
///
/// Reading ends at the size that the file had when it was opened: a reader checks `isUnchanged` at the end.
final class SourceFile {
    static let chunk = 1 << 16

    let descriptor: Descriptor
    let status: FileStatus
    private var buffer = [UInt8](repeating: 0, count: chunk)
    // The unread bytes of the buffer, and the place in the file after the buffer.
    private var unread = 0..<0
    private var next: Int64 = 0
    private let onRead: (Int64) -> Void

    /// - Parameter onRead: for tests: called after each read, with the offset after the bytes.
    init(_ descriptor: Descriptor, _ status: FileStatus, onRead: @escaping (Int64) -> Void = { _ in }) {
        self.descriptor = descriptor
        self.status = status
        self.onRead = onRead
    }

    /// The offset of the next byte.
    var position: Int64 { next - Int64(unread.count) }
    /// Bytes that are left.
    var left: Int64 { status.size - position }

    /// The buffer's unread bytes, read first if there are none; nil at the end.
    private func fill() throws(FileError) -> Bool {
        guard unread.isEmpty else { return true }
        guard next < status.size else { return false }
        let count = min(try descriptor.read(into: &buffer, at: next), Int(clamping: status.size - next))
        next += Int64(count)
        unread = 0..<count
        onRead(next)
        return count > 0
    }

    /// The next byte; nil at the end.
    func byte() throws(FileError) -> UInt8? {
        guard try fill() else { return nil }
        defer { unread.removeFirst() }
        return buffer[unread.lowerBound]
    }

    /// The next `count` bytes; nil if the file ends before.
    /// - Parameter count: small: the bytes are in memory at the same time.
    func bytes(_ count: Int) throws(FileError) -> [UInt8]? {
        guard count >= 0, Int64(count) <= left else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            guard let piece = try piece(atMost: Int64(count - bytes.count)) else { return nil }
            bytes += piece
        }
        return bytes
    }

    /// The next bytes, as many as are in the buffer, 1 to `limit`; nil at the end.
    func piece(atMost limit: Int64) throws(FileError) -> ArraySlice<UInt8>? {
        guard limit > 0, try fill() else { return nil }
        let count = min(Int(clamping: limit), unread.count)
        defer { unread.removeFirst(count) }
        return buffer[unread.prefix(count)]
    }

    /// The next bytes up to a byte `end`, or as many as are in the buffer; nil at the end. `end` itself is not taken.
    func piece(before end: UInt8) throws(FileError) -> ArraySlice<UInt8>? {
        guard try fill() else { return nil }
        let rest = buffer[unread]
        let count = rest.withUnsafeBytes { bytes in
            // The address is used within the closure.
            guard let start = bytes.baseAddress, let found = memchr(start, CInt(clamping: end), bytes.count) else {
                return bytes.count
            }
            return start.distance(to: UnsafeRawPointer(found))
        }
        unread.removeFirst(count)
        return rest.prefix(count)  // characters: bytes.
    }

    /// Leaves out bytes without reading; false if the file ends before.
    func skip(_ count: Int64) throws(FileError) -> Bool {
        guard count >= 0, count <= left else { return false }
        if count <= Int64(unread.count) {
            unread.removeFirst(Int(count))
        } else {
            next = position + count
            unread = 0..<0
        }
        return true
    }

    /// Begins again.
    func rewind() {
        next = 0
        unread = 0..<0
    }

    /// Whether the file is as it was when it was opened.
    func isUnchanged() throws(FileError) -> Bool { try descriptor.status().isUnchanged(since: status) }
}
