import Foundation

/// Why a test account cannot continue.
public enum TestSupportError: Error, Sendable {
    /// A step has ended without a result and without an error.
    case noResult
}

/// The directories of a test account's processes; removed with the account.
final class TestFolders {
    private let root = FileManager.default.temporaryDirectory.appendingPathComponent("kalij-test-\(UUID().uuidString)")
    private var count = 0

    init() throws { try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: root) }

    /// A path for another directory.
    func next() throws -> String {
        count += 1
        return root.appendingPathComponent("\(count)").path
    }

    /// The files of a directory, as a kill leaves them: no transaction is open, so the last one is the last commit.
    func copy(of path: String) throws -> String {
        let copy = try next()
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            let file = path + "/" + name
            // Sockets die with their process; SQLite makes the index of the log anew.
            let type = try FileManager.default.attributesOfItem(atPath: file)[.type] as? FileAttributeType
            guard type == .typeRegular || type == .typeDirectory, !name.hasSuffix("-shm") else { continue }
            try FileManager.default.copyItem(atPath: file, toPath: copy + "/" + name)
        }
        return copy
    }

    func forget(_ path: String) { try? FileManager.default.removeItem(atPath: path) }
}
