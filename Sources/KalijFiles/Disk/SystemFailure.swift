import Glibc

extension FileError {
    /// The error for a value of `errno`.
    /// - Parameter operation: what failed, for people: "opening".
    public static func system(_ number: Int32, _ operation: String) -> FileError {
        switch number {
        case ENOENT: FileError(.notFound)
        case ELOOP: FileError(.notFound, "symbolic links lead in a circle")
        case ENOTDIR: FileError(.notFound, "a part of the path is no folder")
        case ENAMETOOLONG: FileError(.notFound, "the path is too long")
        case EACCES, EPERM: FileError(.notAllowed, operation)
        case EROFS: FileError(.notAllowed, "the file system may only be read")
        case EISDIR: FileError(.notRegular, "it is a folder")
        case ENOSPC: FileError(.diskFull)
        case EDQUOT: FileError(.diskFull, "the user's quota is used up")
        case EFBIG:
            FileError(.tooLarge, "the file system, or a limit of this process, does not take a file of this size")
        case EEXIST: FileError(.nameTaken)
        case EXDEV: FileError(.otherDisk)
        default: FileError(.inputOutput, "\(operation): \(reason(number))")
        }
    }

    private static func reason(_ number: Int32) -> String {
        // glibc's strerror is safe between threads since 2.32, and never returns null.
        strerror(number).map { String(cString: $0) } ?? "error \(number)"
    }
}
