import Glibc

/// A database belongs to one process: two would send queued pushes twice, and overwrite each other's blocks.
final class FileLock {
    /// Another process has the database.
    struct Taken: Error, CustomStringConvertible {
        let path: String
        var description: String { "another process uses \(path)" }
    }

    private let descriptor: Int32

    /// Takes the lock; the system gives it back when the process ends, however it ends.
    /// - Throws: ``Taken``, or `SettingsError` if there can be no lock.
    init(_ database: String) throws {
        let path = database + ".lock"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw SettingsError("state.database", "cannot make \(path): \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw Taken(path: database)
        }
    }

    deinit { close(descriptor) }
}
