import Glibc

/// A file that the next message sends. Nothing is stored until it is accepted.
public struct Attachment: Sendable, Equatable {
    public let path: String
    public let name: String
    public let kind: FileKind
    public let size: Int64?
    /// Whether the file was made of pasted bytes, in a folder of its own, and is removed once it was accepted.
    public let isTemporary: Bool

    /// Nil if there is no regular file at `path`.
    public init?(_ path: String, isTemporary: Bool = false) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        (self.path, self.isTemporary) = (path, isTemporary)
        name = path.split(separator: "/").last.map { String($0).shownName } ?? ""
        kind = FileKind(type: nil, name: name)
        size = Int64(status.st_size)
    }

    /// "Picture balcony.jpg, 118 KB"
    public var spoken: String { kind.words(name) + (size.map { ", " + Words.bytes($0) } ?? "") }

    /// The file is accepted, or no longer wanted.
    public func discard() { if isTemporary { Self.remove(temporary: path) } }

    /// Removes pasted bytes with their folder.
    public static func remove(temporary path: String) {
        unlink(path)
        rmdir(path.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 })
    }
}
