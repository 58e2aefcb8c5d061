import KalijFeatures
import KalijFiles

extension Engine {
    /// Removes files without a row, which a killed process has left. Rows are committed before the lock of an accepted file ends, so
    /// a file without a lock and without a row is nobody's.
    func sweepFiles() {
        guard context?.files != nil else { return }
        let folders = FileFolders(directory.path)
        do {
            try OrphanSweep.sweep(folders.out) { name in
                if try UploadRows.isKnown(name, in: database) { return true }
                let shared = try MailboxReader(directory)
                // A damaged mailbox may have the parcel of the file: nothing is removed before the mailbox was set aside.
                return shared.damage != nil || shared.hasFile(name)
            }
            if isCareful { try sweepReceived(folders) }
        } catch {
            // Nothing depends on the sweep: the next process sweeps again.
        }
    }

    /// A process that died after a file got its name, and before the commit, has left the file.
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
