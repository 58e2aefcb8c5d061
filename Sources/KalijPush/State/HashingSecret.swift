import COpenSSL
import Glibc

/// The secret for hashing tokens and domains, and for deriving the key of sealed rows: 32 bytes or more.
public enum HashingSecret {
    /// Reads a secret; makes a secret, readable by its owner alone, if there is no such file.
    /// - Throws: `SettingsError` with the reason.
    public static func make(_ path: String, key: String) throws(SettingsError) -> [UInt8] {
        if !File.exists(path) { try write(random(), to: path, key: key) }
        return try read(path, key: key)
    }

    /// Reads a secret.
    /// - Throws: `SettingsError` with the reason.
    public static func read(_ path: String, key: String) throws(SettingsError) -> [UInt8] {
        let secret = try File.read(path, key: key)
        guard secret.count >= 32 else { throw SettingsError(key, "\(path) has fewer than 32 bytes") }
        return secret
    }

    /// By way of another name, so that no part of a secret is ever read, whenever the process dies.
    private static func write(_ secret: [UInt8], to path: String, key: String) throws(SettingsError) {
        let draft = path + ".new"
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw SettingsError(key, "cannot make \(draft): \(String(cString: strerror(errno)))")
        }
        let isWritten = Glibc.write(descriptor, secret, secret.count) == secret.count && fsync(descriptor) == 0
        close(descriptor)
        // Not renamed: another process may have made a secret meanwhile.
        guard isWritten, link(draft, path) == 0 || errno == EEXIST else {
            let error = SettingsError(key, "cannot write \(path): \(String(cString: strerror(errno)))")
            unlink(draft)
            throw error
        }
        unlink(draft)
    }

    /// 32 bytes that nobody can guess.
    public static func random() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 32)
        // Fails only if the system has no randomness at all, and then OpenSSL cannot do TLS either.
        if RAND_bytes(&bytes, 32) != 1 { for index in bytes.indices { bytes[index] = .random(in: 0...255) } }
        return bytes
    }
}
<<<<<<< HEAD:Sources/KalijPush/State/HashingSecret.swift
=======

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
>>>>>>> words4:Sources/KalijPush/State/Secret.swift
