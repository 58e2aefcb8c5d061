import Glibc

/// A database belongs to one process: two would send queued pushes twice, and overwrite each other's blocks.
final class FileLock {
    /// Another process has the database.
    struct Taken: Error, CustomStringConvertible {
        let path: String
        var description: String { "another process uses \(path)" }
    }

    private let descriptor: Int32

    /// Takes the lock; the system releases it when the process ends, however it ends.
    /// - Throws: ``Taken``, or `SettingsError` if there can be no lock.
    init(_ database: String) throws {
        let path = Self.whole(database) + ".lock"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw SettingsError("state.database", "cannot make \(path): \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            if code == EWOULDBLOCK { throw Taken(path: database) }
            throw SettingsError("state.database", "cannot lock \(path): \(String(cString: strerror(code)))")
        }
    }

    /// One name for one file: two links to a database are one database.
    private static func whole(_ path: String) -> String {
        guard let whole = realpath(path, nil) else {
            // Not there yet: its folder is.
            guard let cut = path.lastIndex(of: "/"), let folder = realpath(String(path[...cut]), nil) else {
                return path
            }
            defer { free(folder) }
            return String(cString: folder) + path[cut...]
        }
        defer { free(whole) }
        return String(cString: whole)
    }

    deinit { close(descriptor) }
}
