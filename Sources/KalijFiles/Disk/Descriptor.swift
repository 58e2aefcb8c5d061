import CLinux
import Glibc

/// An open file, closed with the object.
final class Descriptor: Sendable {
    let number: Int32

    /// - Throws: `FileError` by `errno`.
    init(_ path: String, _ flags: Int32, mode: mode_t = 0o600) throws(FileError) {
        // C would take the path's beginning for the path.
        guard !path.utf8.contains(0) else { throw FileError(.notFound, "a path cannot have a zero byte") }
        number = open(path, flags | O_CLOEXEC, mode)
        guard number >= 0 else { throw .system(errno, "opening") }
    }

    deinit { close(number) }

    /// Reads until `buffer` is full or the file ends.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        var done = 0
        while done < buffer.count {
            let count = pread(
                number, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(offset) + done)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system(errno, "reading") }
            guard count > 0 else { break }
            done += count
        }
        return done
    }

    /// Reads into the beginning of `buffer`, which keeps its length.
    func read(into buffer: inout [UInt8], at offset: Int64) throws(FileError) -> Int {
        let result = buffer.withUnsafeMutableBytes { bytes -> Result<Int, FileError> in
            do throws(FileError) { return .success(try read(into: bytes, at: offset)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// Writes all bytes at `offset`.
    func write(_ bytes: ArraySlice<UInt8>, at offset: Int64) throws(FileError) {
        var done = 0
        while done < bytes.count {
            // The buffer lives for the length of the call, and holds the bytes after `done`.
            let count = bytes.withUnsafeBytes { buffer in
                pwrite(number, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(offset) + done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .system(count < 0 ? errno : EIO, "writing") }
            done += count
        }
    }

    func status() throws(FileError) -> FileStatus {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw .system(errno, "asking for the size") }
        return FileStatus(status)
    }

    /// Waits until the file is on the disk.
    func sync() throws(FileError) {
        guard fsync(number) == 0 else { throw .system(errno, "writing to the disk") }
    }

    /// Takes the file's lock (F_OFD_SETLK), which ends with the last copy of the descriptor; false if another has the lock.
    /// The descriptor must be open for writing.
    func acquireLock() throws(FileError) -> Bool {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        let setOpenFileLock: Int32 = 37
        guard fcntl(number, setOpenFileLock, &lock) != 0 else { return true }
        guard errno == EAGAIN || errno == EACCES else { throw .system(errno, "locking") }
        return false
    }

    /// Waits until the names in `folder` are on the disk.
    static func sync(folder: String) throws(FileError) {
        try Descriptor(folder, O_RDONLY | O_DIRECTORY).sync()
    }
}

/// The parts of `stat` that are used.
struct FileStatus: Equatable {
    let size: Int64
    let kind: mode_t
    let device: UInt64
    let inode: UInt64
    private let changes: [Int]

    init(_ status: stat) {
        size = Int64(status.st_size)
        kind = status.st_mode & S_IFMT
        device = UInt64(clamping: status.st_dev)
        inode = UInt64(clamping: status.st_ino)
        changes = [
            status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
        ]
    }

    /// - Parameter follows: whether a symbolic link stands for its target.
    init(at path: String, follows: Bool) throws(FileError) {
        guard !path.utf8.contains(0) else { throw FileError(.notFound, "a path cannot have a zero byte") }
        var status = stat()
        guard (follows ? stat(path, &status) : lstat(path, &status)) == 0 else { throw .system(errno, "opening") }
        self.init(status)
    }

    var isRegular: Bool { kind == S_IFREG }

    /// The same file without a change between. A removed or renamed file counts as changed.
    func isUnchanged(since other: FileStatus) -> Bool { self == other }

    func isSameFile(as other: FileStatus) -> Bool { device == other.device && inode == other.inode }

    /// Whether the last change was so long ago that the next change gets another time: the clock of a file system advances every
    /// 4 or 10 ms.
    var isSettled: Bool {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let since = { (seconds: Int, nanoseconds: Int) in
            (now.tv_sec &- seconds) &* 1_000_000_000 &+ (now.tv_nsec &- nanoseconds)
        }
        return [since(changes[0], changes[1]), since(changes[2], changes[3])].allSatisfy { $0 < 0 || $0 > 20_000_000 }
    }

    /// - Throws: `FileError.notRegular` with the kind.
    func requireRegular() throws(FileError) {
        let kind: String =
            switch kind {
            case S_IFREG: ""
            case S_IFDIR: "it is a folder"
            case S_IFIFO: "it is a named pipe"
            case S_IFSOCK: "it is a socket"
            case S_IFCHR, S_IFBLK: "it is a device"
            default: "it is of an unknown kind"
            }
        guard kind.isEmpty else { throw FileError(.notRegular, kind) }
    }
}
