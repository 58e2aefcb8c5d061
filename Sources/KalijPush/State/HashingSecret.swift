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
