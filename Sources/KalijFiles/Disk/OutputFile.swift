/// A new file, written through a buffer, with the SHA-256 of its bytes.
final class OutputFile {
    let descriptor: Descriptor
    private var buffer: [UInt8] = []
    private var written: Int64 = 0
    private let digest: SHA256Stream
    private var isPatched = false

    init(_ descriptor: Descriptor) throws(FileError) {
        self.descriptor = descriptor
        digest = try SHA256Stream()
        buffer.reserveCapacity(SourceFile.chunk)
    }

    /// Bytes so far.
    var count: Int64 { written + Int64(buffer.count) }

    func write(_ bytes: some Collection<UInt8>) throws(FileError) {
        buffer.append(contentsOf: bytes)
        if buffer.count >= SourceFile.chunk { try flush() }
    }

    /// Writes over earlier bytes. The digest is then made anew at the end.
    func patch(_ bytes: [UInt8], at offset: Int64) throws(FileError) {
        try flush()
        try descriptor.write(bytes[...], at: offset)
        isPatched = true
    }

    /// Copies `count` bytes; false if the source ends before.
    func copy(_ count: Int64, from source: SourceFile) throws(FileError) -> Bool {
        guard count >= 0, count <= source.left else { return false }
        var left = count
        while left > 0 {
            guard let piece = try source.piece(atMost: left) else { return false }
            try write(piece)
            left -= Int64(piece.count)
        }
        return true
    }

    private func flush() throws(FileError) {
        try descriptor.write(buffer[...], at: written)
        try digest.update(buffer[...])
        written += Int64(buffer.count)
        buffer.removeAll(keepingCapacity: true)
    }

    /// Writes the rest, and gives the SHA-256.
    func finish() throws(FileError) -> [UInt8] {
        try flush()
        guard isPatched else { return try digest.value() }
        return try SHA256Stream.of(descriptor, size: written)
    }
}
