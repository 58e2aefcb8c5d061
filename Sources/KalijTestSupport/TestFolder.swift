import Foundation

/// A directory that is removed with its object.
package final class TestFolder {
    package let path: String

    /// - Parameter path: where nothing is; nil: a fresh path for temporary files.
    package init(at path: String? = nil) throws {
        let temporary = FileManager.default.temporaryDirectory.path
        self.path = path ?? "\(temporary)/kalij-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: self.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The files of a directory, as a kill leaves them: no transaction is open, so the last one is the last commit.
    convenience init(copyOf original: String) throws {
        try self.init()
        for name in try FileManager.default.contentsOfDirectory(atPath: original) {
            let file = original + "/" + name
            // Sockets die with their process; SQLite makes the index of the log anew.
            let type = try FileManager.default.attributesOfItem(atPath: file)[.type] as? FileAttributeType
            guard type == .typeRegular || type == .typeDirectory, !name.hasSuffix("-shm") else { continue }
            try FileManager.default.copyItem(atPath: file, toPath: path + "/" + name)
        }
    }
}
