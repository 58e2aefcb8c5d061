import Glibc
import KalijHTTP
import KalijText

/// The signing key of modules of type `webpush`, stored in a file.
enum WebPushKey {
    /// Why the key cannot be used.
    struct Problem: Error {
        let text: String
    }

    /// The public key of the key in a file, which is created if it is missing, readable by its owner only.
    static func publicKey(at path: String) throws(Problem) -> String {
        let key: SigningKey
        do {
            key = try SigningKey(pem: try read(path) ?? make(path))
        } catch let error as Problem {
            throw error
        } catch {
            throw Problem(text: "\(path): \(error)")
        }
        guard let point = key.publicPoint else {
            throw Problem(text: "\(path): a P-256 key is wanted; this is an RSA key")
        }
        return Base64URL.encode(point)
    }

    /// The content of a file; nil if it does not exist.
    private static func read(_ path: String) throws(Problem) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw Problem(text: "\(path): \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw Problem(text: "\(path): \(String(cString: strerror(errno)))") }
        return Array(bytes.prefix(count))
    }

    private static func make(_ path: String) throws -> [UInt8] {
        let bytes = try SigningKey.makeES256()
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Problem(text: "\(path): \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        guard write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0 else {
            let reason = String(cString: strerror(errno))
            unlink(path)
            throw Problem(text: "\(path): \(reason)")
        }
        return bytes
    }
}
