import Glibc
import KalijFiles

extension AccountExport {
    /// Writes the lines into a file that only its owner can read. It appears under its name when it is whole; until then, and after a kill, its
    /// name ends with `.part`.
    /// - Parameters:
    ///   - path: the new file.
    ///   - replacing: whether an existing file is replaced.
    ///   - progress: called between pages with the part that is written, from 0 to 1. What it throws ends the export, and removes the file.
    /// - Returns: the number of messages.
    /// - Throws: `FileError`, `DirectoryError`, `StoreError`, and what `progress` throws
    @discardableResult
    public func save(
        to path: String, replacing: Bool = false, progress: (Double) throws -> Void = { _ in }
    ) throws -> Int {
        guard replacing || access(path, F_OK) != 0 else { throw FileError(.nameTaken) }
        let part = path + ".part"
        let file = try Self.open(part)
        do {
            let messages = try read({ try Self.write($0, to: file) }, progress: progress)
            guard fflush(file) == 0, fsync(fileno(file)) == 0 else { throw FileError.system(errno, "writing") }
            guard rename(part, path) == 0 else { throw FileError.system(errno, "renaming") }
            fclose(file)
            return messages
        } catch {
            fclose(file)
            unlink(part)
            throw error
        }
    }

    private static func open(_ path: String) throws(FileError) -> UnsafeMutablePointer<FILE> {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .system(errno, "creating") }
        guard let file = fdopen(descriptor, "w") else {
            let number = errno
            close(descriptor)
            throw .system(number, "creating")
        }
        return file
    }

    private static func write(_ line: String, to file: UnsafeMutablePointer<FILE>) throws(FileError) {
        let line = line + "\n"
        let count = line.utf8.count
        guard fwrite(line, 1, count, file) == count else { throw .system(errno, "writing") }
    }
}
