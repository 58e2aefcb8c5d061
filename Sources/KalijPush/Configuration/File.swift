import Glibc

/// Files named in a configuration.
public enum File {
    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// The folder of a path; nil for a file in the working directory.
    static func folder(of path: String) -> String? {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { $0 == path.startIndex ? "/" : String(path[..<$0]) }
    }

    /// Makes sure that a missing file could be made.
    /// - Throws: `SettingsError` with the key of the file, and the reason.
    static func checkFolder(of path: String, key: String) throws(SettingsError) {
        let folder = folder(of: path) ?? "."
        guard access(folder, W_OK | X_OK) == 0 else {
            throw SettingsError(key, "cannot make files in \(folder): \(String(cString: strerror(errno)))")
        }
    }

    /// All bytes, at most a megabyte.
    /// - Parameter key: the key of the file; empty for the configuration itself, whose path the caller adds.
    /// - Throws: `SettingsError` with the key and the reason.
    public static func read(_ path: String, key: String) throws(SettingsError) -> [UInt8] {
        let name = key.isEmpty ? "" : " " + path
        func failure() -> SettingsError {
            SettingsError(key, "cannot read\(name): \(String(cString: strerror(errno)))")
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw failure()
            }
            if count == 0 { return bytes }
            bytes += buffer.prefix(count)
            guard bytes.count <= 1 << 20 else { throw SettingsError(key, "the file\(name) has more than a megabyte") }
        }
    }
}
