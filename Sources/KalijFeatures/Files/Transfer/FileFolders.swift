import Glibc
import KalijCore
import KalijFiles
import KalijCoordination
import KalijStore
import KalijText

/// The folder of files beside the database: `out` holds accepted files, `in` received ones.
package struct FileFolders {
    /// The path of the accounts' directory.
    package let directory: String
    package let root: String

    /// - Parameter directory: the path of the accounts' directory.
    package init(_ directory: String) { (self.directory, root) = (directory, directory + "/files") }

    /// The folder of the accounts' directory with the open `database`.
    package init(beside database: Database) {
        self.init(database.path.lastIndex(of: "/").map { String(database.path[..<$0]) } ?? ".")
    }

    package var out: String { root + "/out" }

    package func accepted(_ name: String) -> String { "\(out)/\(name)" }

    /// The folder of an account's received files.
    package func received(_ account: Int64) -> String { "\(root)/in/\(account)" }

    /// The partial file of a download.
    package func part(_ message: Int64) -> String { "\(root)/in/\(message).part" }

    /// The decrypted partial file of a download.
    package func plainPart(_ message: Int64) -> String { "\(root)/in/\(message).plain.part" }

    package func makeReceived(_ account: Int64) throws {
        for path in [root, root + "/in", received(account)] where mkdir(path, 0o700) != 0 && errno != EEXIST {
            throw FileError(.inputOutput, String(cString: strerror(errno)))
        }
    }

    package func removeParts(_ message: Int64) {
        unlink(part(message))
        unlink(plainPart(message))
    }

    /// Removes what rows no longer need: a file, or the folder of an account. A name outside of ``root`` is rejected.
    package func remove(_ name: String) {
        guard !name.isEmpty, !name.begins(with: "/"), !name.words(at: "/").contains("..") else { return }
        let path = root + "/" + name
        if unlink(path) == 0 || errno == ENOENT { return }
        for file in names(in: path) { unlink(path + "/" + file) }
        rmdir(path)
    }

    /// How many bytes may be written while the reserve remains free; nil if undetermined.
    package var room: Int64? {
        var status = statvfs()
        guard statvfs(root, &status) == 0 else { return nil }
        let free = Int64(clamping: status.f_bavail).multipliedReportingOverflow(by: Int64(clamping: status.f_frsize))
        return free.overflow ? nil : free.partialValue - FileAcceptance.reserve
    }

    /// The names of the files in a folder; empty if it cannot be read.
    package func names(in folder: String) -> [String] { (try? OrphanSweep.names(in: folder)) ?? [] }
}
