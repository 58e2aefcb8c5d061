import KalijRatchet
import KalijCore
import KalijStore

import Glibc

/// Handles the use of an old copy of the database, which contains session keys that were already used. No session sends any more, and
/// all prekeys are replaced.
struct BackupRestoreGuard {
    let step: Step
    private static let day: Int64 = 86_400_000

    /// Handles evidence that the database is older than what was sent. Further evidence is ignored until the next message is encrypted.
    func found(_ reason: String) throws {
        guard let own = try OwnDevice.load(step.account.id, from: step.database) else { return }
        guard !own.isRestoring else { return }
        let now = step.steady.now
        // Another process uses a copy of the database: two devices with one key would corrupt each other's sessions.
        let isCopy = own.restoredAt.map { $0 <= now && now - $0 < Self.day } ?? false
        try RatchetSessions(step: step).stopSendingAll()
        for dialect in OMEMOVersion.allCases { try OwnKeys(step: step, dialect: dialect).removeAll() }
        if isCopy { try renew() }
        try step.database.run(
            "UPDATE omemo_device SET restored_at = ?, restoring = 1, open = 0 WHERE account = ?",
            [.integer(now), .integer(step.account.id)])
        step.emit(OMEMORestored(reason: reason, isCopy: isCopy))
        guard isCopy else { return try publish() }
        for dialect in try EnabledVersions(step: step).all {
            try KeyPublisher(step: step, dialect: dialect).handle(.began)
        }
    }

    private func publish() throws {
        for dialect in OMEMOVersion.allCases { try KeyPublisher(step: step, dialect: dialect).handle(.changed) }
    }

    /// Creates a new device with a new key.
    func renew() throws {
        let row = try KeyPublicationRow.load(step.account.id, .axolotl, from: step.database)
        try step.database.run("DELETE FROM omemo_device WHERE account = ?", [.integer(step.account.id)])
        try step.database.run("DELETE FROM omemo_session WHERE account = ?", [.integer(step.account.id)])
        try OwnDevice.make(OwnDevice.newID(besides: row?.others ?? []), in: step)
        try checkFile()
        try step.database.run(
            "UPDATE omemo_own SET published_at = NULL, due = 1, listed = 0 WHERE account = ?",
            [.integer(step.account.id)])
    }

    /// Compares the database's file with the file of the last session: a restored copy is another file.
    func checkFile() throws {
        guard let own = try OwnDevice.load(step.account.id, from: step.database),
            let file = Self.name(of: step.database.path)
        else { return }
        if let known = own.file, known != file { try found("the database is another file") }
        try step.database.run(
            "UPDATE omemo_device SET file = ? WHERE account = ?", [.text(file), .integer(step.account.id)])
    }

    /// The inode number of a file. The device number may change with each boot.
    private static func name(of path: String) -> String? {
        var status = stat()
        return stat(path, &status) == 0 ? "\(status.st_ino)" : nil
    }
}

extension BackupRestoreGuard {
    /// Replaces this device by a new one with a new key, by the user's command.
    func reset() throws {
        for dialect in OMEMOVersion.allCases { try OwnKeys(step: step, dialect: dialect).removeAll() }
        let before = try OwnDevice.id(of: step.account.id, in: step.database)
        try renew()
        for dialect in try EnabledVersions(step: step).all {
            guard let before, var row = try KeyPublicationRow.load(step.account.id, dialect, from: step.database) else {
                continue
            }
            row.retired.append(before)
            try row.save(step.account.id, dialect, in: step.database)
            try step.send(
                Nodes.deleteBundle(of: before, dialect), then: DeviceRemovalResponse(),
                within: EngineLimits.serverTimeout)
        }
        for dialect in try EnabledVersions(step: step).all {
            try KeyPublisher(step: step, dialect: dialect).handle(.began)
        }
    }
}
