import Glibc
import Synchronization

/// A file that was accepted: a private copy, on the disk under its id.
///
/// The object holds the copy's lock, so that no `OrphanSweep` removes the copy before its row is committed. The lock ends
/// with `release`, with the object, or with the process.
public final class AcceptedFile: Sendable {
    /// The copy's name in its folder.
    public let id: String
    /// The path of the copy.
    public let path: String
    /// The original's name, cleaned (`UniqueFilename.cleaned`).
    public let name: String
    /// Bytes of the copy, without the metadata that was taken out.
    public let size: Int64
    /// The 32 bytes of the copy's SHA-256.
    public let sha256: [UInt8]
    /// The media type: by the first bytes, else by the name, else `application/octet-stream`.
    public let mediaType: String
    /// Pixels as shown; nil if the file is no JPEG, PNG, GIF or WebP.
    public let image: ImageHeader?
    /// Whether metadata was searched for and removed; false for types that are left as they are, and if metadata was to stay.
    public let isStripped: Bool

    public var width: Int? { image?.width }
    public var height: Int? { image?.height }

    private let lock: Mutex<Descriptor?>

    init(_ copy: CopiedFile, id: String, path: String, name: String) {
        self.id = id
        self.path = path
        self.name = name
        size = copy.size
        sha256 = copy.sha256
        mediaType = copy.mediaType
        image = copy.image
        isStripped = copy.isStripped
        lock = Mutex(copy.output)
    }

    /// Ends the lock: after the commit of the row.
    public func release() { lock.withLock { $0 = nil } }

    /// Removes the copy: if the row cannot be committed.
    public func discard() {
        unlink(path)
        release()
    }
}
