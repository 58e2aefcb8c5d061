import Foundation

/// A test's directory, removed with its object: in memory where there is room, because a busy disk takes a second for a sync, and ext4
/// writes a file out whenever the file is written anew.
public final class ScratchDirectory: Sendable {
    public let path: String

    public init() throws {
        path = Self.freshPath()
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { remove() }

    public func remove() { try? FileManager.default.removeItem(atPath: path) }

    public func file(_ name: String) -> String { path + "/" + name }

    /// A path where nothing is, for a directory or a file.
    public static func freshPath(_ prefix: String = "kalij") -> String { "\(root)/\(prefix)-\(UUID().uuidString)" }

    private static let root: String = {
        var system = statvfs()
        let isRoomy = statvfs("/dev/shm", &system) == 0 && UInt64(system.f_bavail) * UInt64(system.f_frsize) > 1 << 29
        return isRoomy && access("/dev/shm", W_OK) == 0 ? "/dev/shm" : FileManager.default.temporaryDirectory.path
    }()
}
