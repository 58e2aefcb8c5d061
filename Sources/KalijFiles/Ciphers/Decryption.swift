import COpenSSL
import Glibc

/// Decrypts a file of AES-256-GCM, whose last 16 bytes are the tag, into a new file: in slices, for a thread that has other
/// work, too.
///
/// Until `step` has returned true, the new file's bytes are not verified. The new file is removed when the tag is wrong, when
/// anything else fails, and when the work is given up.
public final class Decryption {
    private let source: Descriptor
    private let output: Descriptor
    private let outputPath: String
    private let context: OpaquePointer
    private let plainCount: Int64
    private var offset: Int64 = 0
    private var sealed = [UInt8](repeating: 0, count: SourceFile.chunk)
    private var plain = [UInt8](repeating: 0, count: SourceFile.chunk)
    private enum State { case running, done, failed }
    private var state = State.running

    /// - Parameters:
    ///   - source: the path of the encrypted file.
    ///   - output: the path of the new file; what is there is replaced.
    /// - Throws: `FileError`: `.malformed` if the source has no 16 bytes, `.tooLarge` if the source is over the limit of GCM
    ///   (64 GiB less 16 bytes), and errors of the disk.
    public init(of source: String, into output: String, key: FileKey) throws(FileError) {
        let (file, size) = try Descriptor.openRegular(source)
        guard size >= FileKey.tagCount else { throw FileError(.malformed, "an encrypted file has at least 16 bytes") }
        plainCount = size - Int64(FileKey.tagCount)
        guard plainCount <= FileKey.limit else { throw FileError(.tooLarge, "encrypted files have at most 64 GiB") }
        let context = try key.context(encrypts: false)
        do throws(FileError) {
            self.output = try Descriptor(output, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW)
        } catch {
            EVP_CIPHER_CTX_free(context)
            throw error
        }
        self.source = file
        self.context = context
        outputPath = output
    }

    deinit {
        if state == .running { unlink(outputPath) }
        EVP_CIPHER_CTX_free(context)
    }

    /// Bytes of the new file.
    public var length: Int64 { plainCount }

    /// Works on at least `bytes` bytes, or to the end.
    /// - Returns: true when the tag was found right, and the new file is whole. The file is not synced.
    /// - Throws: `FileError`: `.tag` if the tag is wrong; `.changed` if the source became shorter; errors of the disk. The new
    ///   file is removed then.
    public func step(bytes: Int) throws(FileError) -> Bool {
        switch state {
        case .done: return true
        case .failed: throw FileError(.tag)
        case .running: break
        }
        do throws(FileError) {
            try decrypt(atLeast: Int64(clamping: bytes))
            guard offset == plainCount else { return false }
            try checkTag()
            state = .done
            return true
        } catch {
            state = .failed
            unlink(outputPath)
            throw error
        }
    }

    private func decrypt(atLeast bytes: Int64) throws(FileError) {
        var left = bytes
        while left > 0, offset < plainCount {
            let wanted = min(sealed.count, Int(clamping: plainCount - offset))
            let count = min(wanted, try source.read(into: &sealed, at: offset))
            guard count == wanted else { throw FileError(.changed) }
            var made: Int32 = 0
            // fits: at most 64 KiB
            guard EVP_DecryptUpdate(context, &plain, &made, sealed, Int32(count)) == 1, Int(made) == count else {
                throw .library("EVP_DecryptUpdate")
            }
            try output.write(plain[..<count], at: offset)
            offset += Int64(count)
            left -= Int64(count)
        }
    }

    private func checkTag() throws(FileError) {
        var tag = [UInt8](repeating: 0, count: FileKey.tagCount)
        guard try source.read(into: &tag, at: plainCount) == tag.count else { throw FileError(.changed) }
        var (nothing, count) = ([UInt8](repeating: 0, count: 16), Int32(0))
        guard EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(clamping: tag.count), &tag) == 1 else {
            throw .library("EVP_CTRL_AEAD_SET_TAG")
        }
        guard EVP_DecryptFinal_ex(context, &nothing, &count) == 1 else {
            ERR_clear_error()
            throw FileError(.tag)
        }
    }
}
