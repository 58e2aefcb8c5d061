import KalijCore
import KalijFiles
import KalijStore

/// The files without a row, left behind by a killed process.
final class OrphanedFiles: FeatureService {
    private let host: any ServiceHost

    init(_ host: any ServiceHost) { self.host = host }

    private var database: Database { host.runner.database }

    /// Removes the files. The row of an accepted file is committed before the file's lock is released, so a file with neither lock
    /// nor row is an orphan.
    func start() {
        let folders = FileFolders(beside: database)
        do {
            try OrphanSweep.sweep(folders.out) { name in
                if try UploadRows.isKnown(name, in: database) { return true }
                if try ReceivedFileRows(database: database).isKnown("out/\(name)") { return true }
                let shared = try MailboxReader(folders.directory)
                // A damaged mailbox may hold the entry of the file: nothing is removed before the mailbox was replaced.
                return shared.damage != nil || shared.hasFile(name)
            }
            if host.isCareful { try sweepReceived(folders) }
        } catch {
            // Nothing depends on the sweep: the next process repeats it.
        }
    }

    /// Removes the files of a process that died after it renamed a file, and before the commit.
    private func sweepReceived(_ folders: FileFolders) throws {
        let rows = ReceivedFileRows(database: database)
        for account in try AccountTable(database).all().map(\.id) {
            for name in folders.names(in: folders.received(account)) {
                let path = "in/\(account)/\(name)"
                if try !rows.isKnown(path) { folders.remove(path) }
            }
        }
    }
}
