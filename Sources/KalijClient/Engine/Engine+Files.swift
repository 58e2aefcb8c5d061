import KalijFeatures
import KalijFiles

extension Engine {
    /// Removes files without a row, left behind by a killed process. The row of an accepted file is committed before the file's
    /// lock is released, so a file with neither lock nor row is an orphan.
    func sweepFiles() {
        guard context?.files != nil else { return }
        let folders = FileFolders(directory.path)
        do {
            try OrphanSweep.sweep(folders.out) { name in
                if try UploadRows.isKnown(name, in: database) { return true }
                let shared = try MailboxReader(directory)
                // A damaged mailbox may hold the entry of the file: nothing is removed before the mailbox was replaced.
                return shared.damage != nil || shared.hasFile(name)
            }
            if isCareful { try sweepReceived(folders) }
        } catch {
            // Nothing depends on the sweep: the next process repeats it.
        }
    }

    /// Removes the files of a process that died after it renamed a file, and before the commit.
    private func sweepReceived(_ folders: FileFolders) throws {
        let rows = ReceivedFileRows(database: database)
        for account in drivers.values.map(\.account.id) {
            for name in folders.names(in: folders.received(account)) {
                let path = "in/\(account)/\(name)"
                if try !rows.isKnown(path) { folders.remove(path) }
            }
        }
    }
}
