import Glibc
import KalijClient

/// A file of a few lines beside the database. It is not synced to the disk: its loss costs a click.
enum SmallFile {
    /// Replaces the file as a whole; the former one remains if that fails.
    static func write(_ text: String, to path: String) throws(FileError) {
        let new = path + ".new"
        guard let file = fopen(new, "we") else { throw .system(errno, "writing") }
        let isWritten = fputs(text, file) >= 0
        guard fclose(file) == 0, isWritten, rename(new, path) == 0 else {
            let number = errno
            unlink(new)
            throw .system(number, "writing")
        }
    }
}
