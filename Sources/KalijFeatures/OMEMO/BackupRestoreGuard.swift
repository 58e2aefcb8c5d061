import KalijRatchet
import KalijSteps
import KalijStore

import Glibc

/// The database is an old copy: keys of its sessions were used. No session sends any more, and all prekeys are new.
struct BackupRestoreGuard {
    let step: Step
    private static let day: Int64 = 86_400_000

    /// A sign that the database is older than what was sent. All signs count as one, until something is encrypted again.
    func found(_ reason: String) throws {
        guard let own = try OwnDevice.load(step.account.id, from: step.database) else { return }
        guard !own.isRestoring else { return }
        let now = step.steady.now
        // A copy of the database lives: two devices with one key would destroy each other's sessions.
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

    /// A new device, with a new key.
    func renew() throws {
        let row = try KeyPublicationRow.load(step.account.id, .axolotl, from: step.database)
        try step.database.run("DELETE FROM omemo_device WHERE account = ?", [.integer(step.account.id)])
        try step.database.run("DELETE FROM omemo_session WHERE account = ?", [.integer(step.account.id)])
        try OwnDevice.make(OwnDevice.newID(besides: row?.others ?? []), in: step)
        try lookAtFile()
        try step.database.run(
            "UPDATE omemo_own SET published_at = NULL, due = 1, listed = 0 WHERE account = ?",
            [.integer(step.account.id)])
    }

    /// Compares the database's file with the file of the last session: a copy that was put back is another file.
    func lookAtFile() throws {
        guard let own = try OwnDevice.load(step.account.id, from: step.database),
            let file = Self.name(of: step.database.path)
        else { return }
        if let known = own.file, known != file { try found("the database is another file") }
        try step.database.run(
            "UPDATE omemo_device SET file = ? WHERE account = ?", [.text(file), .integer(step.account.id)])
    }

    /// The inode of a file. The device may change with each start of the machine.
    private static func name(of path: String) -> String? {
        var status = stat()
        return stat(path, &status) == 0 ? "\(status.st_ino)" : nil
    }
}

extension BackupRestoreGuard {
    /// The user wants a new device with a new key.
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
                within: EngineLimits.serverPatience)
        }
        for dialect in try EnabledVersions(step: step).all {
            try KeyPublisher(step: step, dialect: dialect).handle(.began)
        }
    }
}
