import Glibc

enum FileSize {
    /// The size of the file at `path` in bytes; 0 if there is none.
    static func of(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }
}
