import Glibc

/// A file in which each byte can be locked by one process; the system releases the lock when the process dies.
///
/// Open-file-description locks: unlike POSIX record locks they survive the closing of another descriptor of the file,
/// and unlike `flock` they can be queried without being taken.
final class LockFile {
    private let descriptor: Int32

    init(path: String) throws(FenceError) {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .lockFile(path: path, reason: String(cString: strerror(errno)))
        }
    }

    /// For queries only, also where nothing can be written; nil if there is no such file.
    init?(reading path: String) throws(FenceError) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 {
            guard errno != ENOENT else { return nil }
            throw .lockFile(path: path, reason: String(cString: strerror(errno)))
        }
    }

    deinit { close(descriptor) }

    /// Locks byte `number`; false if another process holds the byte exclusively, or, for an exclusive lock, holds the
    /// byte at all.
    func lock(byte number: Int64, shared: Bool = false) -> Bool {
        apply(Self.set, shared ? F_RDLCK : F_WRLCK, number) != nil
    }

    /// Releases byte `number`.
    func unlock(byte number: Int64) { _ = apply(Self.set, F_UNLCK, number) }

    /// Whether another open file holds byte `number`; takes nothing.
    func isHeld(byte number: Int64) -> Bool {
        guard let answer = apply(Self.get, F_WRLCK, number) else { return false }
        return answer.l_type != Int16(F_UNLCK)
    }

    private func apply(_ command: Int32, _ type: Int32, _ byte: Int64) -> flock? {
        var lock = flock()
        lock.l_type = Int16(type)  // fits: one of three small constants
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = off_t(byte)
        lock.l_len = 1
        return fcntl(descriptor, command, &lock) == 0 ? lock : nil
    }

    // F_OFD_GETLK and F_OFD_SETLK of <fcntl.h>, defined there for _GNU_SOURCE only.
    private static let get: Int32 = 36
    private static let set: Int32 = 37
}
