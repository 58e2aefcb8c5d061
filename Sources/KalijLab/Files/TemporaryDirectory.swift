import Glibc
import KalijText

/// A new directory under `TMPDIR` or `/tmp`, readable by its user alone.
///
/// The maker removes the directory: ``Laboratory`` leaves that to its ``CleanupProcess``, which outlives the process.
public struct TemporaryDirectory: Sendable {
    /// The absolute path.
    public let path: String

    /// Makes the directory.
    /// - Throws: ``LaboratoryError`` if the system refuses.
    public init(prefix: String = "kalij-lab") throws {
        let parent = EnvironmentVariable.value("TMPDIR") ?? "/tmp"
        var template = Array("\(parent)/\(prefix)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw LaboratoryError("cannot make a temporary directory in \(parent): \(lastSystemError())")
        }
        path = template.withUnsafeBufferPointer { buffer in
            String(decoding: buffer.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    /// Removes the directory with all content, without following links.
    public func remove() {
        removeTree(path)
    }
}

private func removeTree(_ path: String) {
    if let directory = opendir(path) {
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                // The field is a NUL-terminated array of 256 characters inside the entry.
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name == "." || name == ".." { continue }
            let child = "\(path)/\(name)"
            if unlink(child) != 0 { removeTree(child) }
        }
    }
    rmdir(path)
}
