import Glibc
import KalijClient

/// A file that appears under its name when it is whole: until then, its name ends with `.part`. An existing file is replaced.
public enum SavedFile {
    /// Copies a file; waits for the disk.
    public static func copy(_ source: String, to target: String) throws(FileError) {
        let file = open(source, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw failure() }
        defer { close(file) }
        try write(target, isSynced: true) { output throws(FileError) in
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                let count = read(file, &bytes, bytes.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw failure() }
                if count == 0 { return }
                try write(bytes[..<count], to: output)
            }
        }
    }

    /// - Parameters:
    ///   - isSynced: whether the file survives a power failure from here on.
    ///   - body: writes into the descriptor.
    static func write(
        _ path: String, isSynced: Bool = false, _ body: (Int32) throws(FileError) -> Void
    ) throws(FileError) {
        let part = path + ".part"
        let file = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw failure() }
        do throws(FileError) {
            try body(file)
            guard !isSynced || fsync(file) == 0, rename(part, path) == 0 else { throw failure() }
            close(file)
        } catch {
            close(file)
            unlink(part)
            throw error
        }
    }

    static func write(_ bytes: ArraySlice<UInt8>, to file: Int32) throws(FileError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure() }
            rest = rest.dropFirst(count)
        }
    }

    private static func failure() -> FileError {
        let number = errno
        let code: FileError.Code =
            switch number {
            case ENOSPC, EDQUOT: .diskFull
            case EACCES, EPERM, EROFS: .notAllowed
            case ENOENT, ENOTDIR: .notFound
            default: .inputOutput
            }
        return FileError(code, String(cString: strerror(number)))
    }
}
