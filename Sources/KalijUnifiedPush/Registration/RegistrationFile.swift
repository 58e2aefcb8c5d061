import CSystemd
import FoundationEssentials
import Glibc

/// The registrations of a directory of accounts, in a file that several processes change one after the other.
///
/// A file and not the accounts' database: a registration changes while another process drives.
public struct RegistrationFile: Sendable {
    /// The reason why the file cannot be used.
    public struct Problem: Error, Sendable, CustomStringConvertible {
        public let description: String

        init(_ path: String, _ reason: String) { description = "\(path): \(reason)" }
        init(_ path: String) { self.init(path, String(cString: strerror(errno))) }
    }

    /// Of the file, in bytes.
    private static let limit = 1_048_576
    private let path: String

    /// - Parameter directory: the path of the directory of accounts.
    public init(directory: String) { path = directory + "/unifiedpush.json" }

    /// The stored registrations.
    public func load() throws(Problem) -> [UnifiedPushRegistration] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return [] }
            throw Problem(path)
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Self.limit)
        var count = 0
        while count < bytes.count {
            let read = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress?.advanced(by: count), $0.count - count)
            }
            guard read >= 0 else { throw Problem(path) }
            if read == 0 { break }
            count += read
        }
        do {
            return try JSONDecoder().decode([UnifiedPushRegistration].self, from: Data(bytes.prefix(count)))
        } catch {
            throw Problem(path, "no list of registrations; without the file, `kalij push unifiedpush` registers again")
        }
    }

    /// Changes the registrations. A process that is killed leaves the former ones.
    /// - Returns: the result of `body`.
    public func change<Result>(
        _ body: (inout [UnifiedPushRegistration]) throws -> Result
    ) throws -> Result {
        let lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw Problem(path + ".lock") }
        defer { close(lock) }
        guard flock(lock, LOCK_EX) == 0 else { throw Problem(path + ".lock") }
        let former = try load()
        var registrations = former
        let result = try body(&registrations)
        if registrations != former {
            try WholeFile.replace(path, with: Array(JSONEncoder().encode(registrations)), mode: 0o600)
        }
        return result
    }
}
