import CLinux
import Glibc

/// Renaming that overwrites nothing.
enum AtomicRename {
    /// - Returns: false if `path` is taken.
    static func move(_ old: String, to path: String) throws(FileError) -> Bool {
        if kalij_rename_new(old, path) == 0 { return true }
        let number = errno
        switch number {
        case EEXIST: return false
        // File systems without RENAME_NOREPLACE, NFS among them; kernels and sandboxes without the call.
        case EINVAL, ENOSYS, EPERM, EOPNOTSUPP: return try link(old, path)
        default: throw .system(number, "renaming")
        }
    }

    /// A second name, which fails if it is taken, and then the end of the first.
    static func link(_ old: String, _ path: String) throws(FileError) -> Bool {
        guard try addName(old, path) else { return false }
        unlink(old)
        return true
    }

    /// A second name.
    /// - Returns: false if `path` is taken.
    static func addName(_ old: String, _ path: String) throws(FileError) -> Bool {
        if Glibc.link(old, path) == 0 { return true }
        let number = errno
        if number == EEXIST { return false }
        throw .system(number, "renaming")
    }
}
