import CLinux
import Glibc

/// Takes a file over, to be sent: a private copy of the file as it is now, on the disk when the call returns.
///
/// The copy is no hard link, because a file changed in place would be sent half and half.
public enum FileAcceptance {
    /// Bytes of disk that stay free.
    public static let reserve: Int64 = 64 << 20

    /// Copies the file to `folder`, under a lock: `ID.part`, renamed to `ID` when all is on the disk. On a file system with
    /// shared blocks (reflink) a file that needs no change is not copied byte by byte.
    /// - Parameters:
    ///   - path: a regular file, or a symbolic link to one.
    ///   - id: 1 to 64 letters, digits and hyphens of ASCII; used once.
    ///   - folder: made with the mode 0700 if missing; its parent exists.
    ///   - keepingMetadata: whether EXIF, XMP and comments stay in JPEG, PNG and WebP.
    ///   - limit: the largest file in bytes that the server accepts; nil if unknown.
    ///   - reserve: bytes of disk that must be left after the copy.
    /// - Throws: `FileError`: `.notFound`, `.notRegular`, `.notAllowed`, `.empty`, `.tooLarge`, `.diskFull`, `.notStripped`,
    ///   `.changed` if the file is changed, cut, extended, renamed or removed while it is read, `.nameTaken` if the id was
    ///   used, `.inputOutput`. Nothing is left in the folder then.
    public static func accept(
        _ path: String, as id: String, in folder: String, keepingMetadata: Bool, limit: Int64?,
        reserve: Int64 = FileAcceptance.reserve
    ) throws(FileError) -> AcceptedFile {
        try accept(path, as: id, in: folder, keepingMetadata, limit: limit, reserve: reserve) { _ in }
    }

    /// - Parameter onRead: for tests: called after each read of the source, with the offset.
    package static func accept(
        _ path: String, as id: String, in folder: String, _ keepingMetadata: Bool, limit: Int64?, reserve: Int64,
        onRead: @escaping (Int64) -> Void
    ) throws(FileError) -> AcceptedFile {
        guard isUsable(id) else { throw FileError(.malformed, "an id has letters, digits and hyphens") }
        let source = try open(path, onRead)
        guard source.status.size > 0 else { throw FileError(.empty) }
        try makeFolder(folder)
        let (final, part) = ("\(folder)/\(id)", "\(folder)/\(id).part")
        let output = try lockedPart(part)
        do throws(FileError) {
            let name = UniqueFilename.cleaned(path)
            let copying = FileCopier(source, output, named: name, limit: limit, reserve: reserve)
            let copy = try copying.run(keepingMetadata: keepingMetadata)
            guard try AtomicRename.move(part, to: final) else { throw FileError(.nameTaken) }
            do throws(FileError) { try Descriptor.sync(folder: folder) } catch {
                unlink(final)
                throw error
            }
            return AcceptedFile(copy, id: id, path: final, name: name)
        } catch {
            unlink(part)
            throw error
        }
    }

    private static func isUsable(_ id: String) -> Bool {
        (1...64).contains(id.utf8.count)
            && id.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || "0123456789-".unicodeScalars.contains($0))
            }
    }

    /// Nothing but a regular file is opened: opening a device can have effects. Between the check and the opening the path can
    /// get another file, so both are checked.
    private static func open(_ path: String, _ onRead: @escaping (Int64) -> Void) throws(FileError) -> SourceFile {
        try FileStatus(at: path, follows: true).requireRegular()
        let descriptor = try Descriptor(path, O_RDONLY | O_NONBLOCK)
        let status = try descriptor.status()
        try status.requireRegular()
        if !status.isSettled {
            // A change right after this one would not show in the file's times.
            usleep(30_000)
            guard try descriptor.status().isUnchanged(since: status) else { throw FileError(.changed) }
        }
        return SourceFile(descriptor, status, onRead: onRead)
    }

    private static func makeFolder(_ folder: String) throws(FileError) {
        guard mkdir(folder, 0o700) == 0 else {
            guard errno == EEXIST else { throw .system(errno, "making the folder") }
            return
        }
        try Descriptor.sync(folder: folder + "/..")
    }

    /// A new file with its lock. A sweep may have the lock for a moment, and then removes the file: so the lock is waited for,
    /// and the name is checked afterwards. A removal here could coincide with the sweep's, and remove the next file.
    private static func lockedPart(_ path: String) throws(FileError) -> Descriptor {
        for _ in 0..<100 {
            let file = try Descriptor(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
            do throws(FileError) {
                try wait(for: file)
                if try isStill(file, at: path) { return file }
            } catch {
                unlink(path)
                throw error
            }
        }
        throw FileError(.busy)
    }

    private static func wait(for file: Descriptor) throws(FileError) {
        for _ in 0..<5000 {
            if try file.acquireLock() { return }
            // The holder keeps the lock for moments, and its end causes no notification.
            usleep(1000)
        }
        throw FileError(.busy, "another process has its lock for five seconds")
    }

    /// Whether the path still names the open file.
    private static func isStill(_ file: Descriptor, at path: String) throws(FileError) -> Bool {
        let open = try file.status()
        do throws(FileError) {
            return try FileStatus(at: path, follows: false).isSameFile(as: open)
        } catch FileError(.notFound) { return false }
    }
}
