import KalijFiles
import KalijTransfer

/// The services that transfer and read files: the system, or the simulator's replacement.
package struct FileEnvironment {
    package let transport: any FileTransport
    /// The bytes of an accepted file as they are sent, given its path and, for an encrypted file, the nonce and the key.
    package let body: (_ path: String, _ key: [UInt8]?) throws -> any UploadBody

    package init(
        transport: any FileTransport, body: @escaping (_ path: String, _ key: [UInt8]?) throws -> any UploadBody
    ) {
        (self.transport, self.body) = (transport, body)
    }

    package static func system(_ loop: any TransferLoop) -> FileEnvironment {
        FileEnvironment(transport: CurlTransport(loop: loop)) { path, key in
            guard let key else { return FileBody(try HashingReader(path: path)) }
            return FileBody(try EncryptingReader(path: path, key: FileKey(stored: key)))
        }
    }
}

extension FileKey {
    /// - Parameter stored: the nonce, of 12 or 16 bytes, and the key of 32 bytes after it.
    convenience init(stored: [UInt8]) throws(FileError) {
        try self.init(key: stored.suffix(Self.keyCount), nonce: stored.dropLast(Self.keyCount))
    }
}

/// The body of a PUT request, read from a file.
private final class FileBody: UploadBody {
    private let reader: any FileReader

    init(_ reader: any FileReader) { self.reader = reader }

    var length: Int64 { reader.length }
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int { try reader.read(into: buffer) }
}
