import Glibc
import KalijCore
import KalijStore

/// The files of an account's pictures, each named by its SHA-1. A file is written under a temporary name, and renamed when complete, so
/// a file with its final name is always complete. Only the driving process writes.
struct PictureFiles {
    private let folder: String

    init(of account: Int64, in database: Database) {
        let directory = database.path.lastIndex(of: "/").map { database.path[..<$0] } ?? "."
        folder = "\(directory)/pictures/\(account)"
    }

    /// The path of a picture; nil if it is not stored.
    func path(of hash: String) -> String? {
        let path = folder + "/" + hash
        return access(path, R_OK) == 0 ? path : nil
    }

    /// - Throws: `IntentFailure` if the file cannot be written.
    func store(_ picture: Avatar) throws {
        guard path(of: picture.hash) == nil else { return }
        let parent = String(folder[..<(folder.lastIndex(of: "/") ?? folder.endIndex)])
        for path in [parent, folder] where mkdir(path, 0o700) != 0 && errno != EEXIST { throw Self.failure() }
        let part = folder + "/" + picture.hash + ".part"
        let file = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Self.failure() }
        let isWritten = Self.write(picture.bytes, to: file)
        let isClosed = close(file) == 0
        guard isWritten, isClosed, rename(part, folder + "/" + picture.hash) == 0 else {
            let failure = Self.failure()
            unlink(part)
            throw failure
        }
    }

    /// Syncs the bytes to the disk before the file is renamed.
    private static func write(_ bytes: [UInt8], to file: Int32) -> Bool {
        var done = 0
        while done < bytes.count {
            // The buffer lives for the length of the call, and holds the bytes after `done`.
            let count = bytes.withUnsafeBytes { buffer in
                Glibc.write(file, buffer.baseAddress.map { $0 + done }, buffer.count - done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return fsync(file) == 0
    }

    private static func failure() -> IntentFailure {
        IntentFailure("the picture cannot be stored: \(String(cString: strerror(errno)))")
    }

    /// Removes all files except those of `hashes`.
    func keep(_ hashes: Set<String>) {
        for name in names() where !hashes.contains(name) { unlink(folder + "/" + name) }
    }

    /// Removes all files.
    func removeAll() {
        keep([])
        rmdir(folder)
    }

    private func names() -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
