import COpenSSL
import Glibc

/// The bytes of a file in the form that leaves, read once from beginning to end: for an upload. A second upload takes a new reader.
public protocol FileReader: AnyObject {
    /// Bytes from the beginning to the end.
    var length: Int64 { get }

    /// Fills the beginning of `buffer` with the next bytes.
    /// - Returns: the number of bytes; 0 at the end alone, or if the buffer is empty.
    /// - Throws: `FileError`: `.changed` if the file has become shorter or longer, or an error of reading.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int
}

/// A file as it is, with its SHA-256.
public final class HashingReader: FileReader {
    public let length: Int64
    private let file: Descriptor
    private let digest: SHA256Stream
    private var offset: Int64 = 0
    private var value: [UInt8]?

    /// - Throws: `FileError` if the file cannot be opened, or is no regular file.
    public init(path: String) throws(FileError) {
        (file, length) = try Descriptor.openRegular(path)
        digest = try SHA256Stream()
    }

    /// The SHA-256 of the file; nil before the end was read.
    public var sha256: [UInt8]? { value }

    public func read(into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        let count = try file.readNext(into: buffer, offset, of: length)
        guard EVP_DigestUpdate(digest.context, buffer.baseAddress, count) == 1 else {
            throw .library("EVP_DigestUpdate")
        }
        offset += Int64(count)
        if offset == length, value == nil { value = try digest.value() }
        return count
    }
}

/// A file that is encrypted with AES-256-GCM while it is read, with the tag at the end. The same key gives the same bytes each time.
///
/// A nonce must never be used for other bytes: so the file must be a private copy that nobody changes.
public final class EncryptingReader: FileReader {
    /// The file's bytes and the 16 of the tag.
    public let length: Int64
    private let plainCount: Int64
    private let file: Descriptor
    private let context: OpaquePointer
    private var plain = [UInt8](repeating: 0, count: SourceFile.chunk)
    private var offset: Int64 = 0
    private var tag: ArraySlice<UInt8> = []
    private var isSealed = false

    /// - Throws: `FileError`: `.tooLarge` if the file is over the limit of GCM (64 GiB less 32 bytes); if the file cannot be
    ///   opened, or is no regular file.
    public init(path: String, key: FileKey) throws(FileError) {
        (file, plainCount) = try Descriptor.openRegular(path)
        guard plainCount <= FileKey.limit else { throw FileError(.tooLarge, "encrypted files have at most 64 GiB") }
        length = plainCount + Int64(FileKey.tagCount)
        context = try key.context(encrypts: true)
    }

    deinit { EVP_CIPHER_CTX_free(context) }

    public func read(into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let count = try offset < plainCount ? encrypt(into: rest) : finish(into: rest)
            guard count > 0 else { break }
            done += count
        }
        return done
    }

    private func encrypt(into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        let wanted = min(buffer.count, plain.count)
        let (file, offset, plainCount) = (file, offset, plainCount)
        let read = plain.withUnsafeMutableBytes { bytes -> Result<Int, FileError> in
            do throws(FileError) {
                let part = UnsafeMutableRawBufferPointer(rebasing: bytes[..<wanted])
                return .success(try file.readNext(into: part, offset, of: plainCount))
            } catch { return .failure(error) }
        }
        let count = try read.get()
        var made: Int32 = 0
        let output = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
        // fits: at most 64 KiB
        guard EVP_EncryptUpdate(context, output, &made, plain, Int32(count)) == 1, Int(made) == count else {
            throw .library("EVP_EncryptUpdate")
        }
        self.offset += Int64(count)
        return count
    }

    private func finish(into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        if !isSealed {
            isSealed = true
            var (nothing, count) = ([UInt8](repeating: 0, count: 16), Int32(0))
            var tag = [UInt8](repeating: 0, count: FileKey.tagCount)
            guard EVP_EncryptFinal_ex(context, &nothing, &count) == 1,
                EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(clamping: tag.count), &tag) == 1
            else { throw .library("EVP_EncryptFinal") }
            self.tag = tag[...]
        }
        let part = tag.prefix(buffer.count)
        buffer.copyBytes(from: part)
        tag.removeFirst(part.count)
        return part.count
    }
}

extension Descriptor {
    /// Opens a regular file for reading, and gives its size.
    static func openRegular(_ path: String) throws(FileError) -> (Descriptor, Int64) {
        let file = try Descriptor(path, O_RDONLY | O_NONBLOCK)
        let status = try file.status()
        try status.requireRegular()
        return (file, status.size)
    }

    /// The next bytes of a file of `length` bytes, as many as fit.
    /// - Throws: `FileError.changed` if the file has another length by now.
    func readNext(
        into buffer: UnsafeMutableRawBufferPointer, _ offset: Int64, of length: Int64
    ) throws(FileError) -> Int {
        let wanted = min(buffer.count, Int(clamping: length - offset))
        guard wanted > 0 else { return 0 }
        let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: offset)
        guard count == wanted else { throw FileError(.changed) }
        if offset + Int64(count) == length, try status().size != length { throw FileError(.changed) }
        return count
    }
}
