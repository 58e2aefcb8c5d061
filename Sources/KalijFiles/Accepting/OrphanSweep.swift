import Glibc
import KalijText

/// Removes files that a killed process has left: copies without a lock and without a row.
public enum OrphanSweep {
    /// Checks each regular file of a folder. A file is removed if no process has its lock and, queried afterwards, no row has its
    /// id. `ID.part` has no row by nature.
    /// - Parameters:
    ///   - folder: the folder of `FileAcceptance`; a missing folder is empty.
    ///   - isKnown: whether a row has this id. Called after the lock was taken, because the owner commits the row before it
    ///     releases the lock.
    /// - Returns: the number of removed files.
    /// - Throws: what `isKnown` throws; `FileError` if the folder cannot be read.
    @discardableResult
    public static func sweep(_ folder: String, isKnown: (String) throws -> Bool) throws -> Int {
        var count = 0
        for name in try names(in: folder) {
            // A file that was removed meanwhile, or cannot be opened, is left for the next time.
            guard let file = try? lock(folder + "/" + name) else { continue }
            let isPart = name.ends(with: ".part")
            if !isPart, try isKnown(name) { continue }
            if remove(folder + "/" + name, file) { count += 1 }
        }
        return count
    }

    /// The open and locked file; nil if another has the lock, or it is no regular file.
    private static func lock(_ path: String) throws(FileError) -> Descriptor? {
        guard try FileStatus(at: path, follows: false).isRegular else { return nil }
        let file = try Descriptor(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK)
        guard try file.status().isRegular, try file.acquireLock() else { return nil }
        return file
    }

    /// The name may belong to another file by now: `ID.part` is renamed.
    private static func remove(_ path: String, _ file: Descriptor) -> Bool {
        guard let open = try? file.status(), let named = try? FileStatus(at: path, follows: false),
            named.isSameFile(as: open)
        else { return false }
        return unlink(path) == 0
    }

    /// What is in a folder, in no order; a missing folder is empty.
    /// - Throws: `FileError` if the folder cannot be read.
    package static func names(in folder: String) throws(FileError) -> [String] {
        guard let directory = opendir(folder) else {
            if errno == ENOENT { return [] }
            throw .system(errno, "reading the folder")
        }
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
