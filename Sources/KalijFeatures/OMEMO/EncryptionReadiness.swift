import KalijRatchet
import KalijCore
import KalijStore

/// Determines whether messages may be encrypted. They may once the keys of this device are published in the session, and the archive
/// was read: an old copy of the database would otherwise reuse keys.
struct EncryptionReadiness {
    let step: Step

    /// The session is lost: both conditions have to be met again.
    func sessionLost() throws {
        try OwnDevice.set(isRead: false, in: step)
        try OwnDevice.set(isOpen: false, in: step)
    }

    /// The account's archive was read to its end, or there is none.
    func archiveRead() throws {
        try OwnDevice.set(isRead: true, in: step)
        for dialect in OMEMOVersion.allCases { try OwnKeys(step: step, dialect: dialect).archiveRead() }
        try open()
        try DeferredMessages(step: step).read()
        try resume()
    }

    /// The keys of a version were published, or cannot be in this session.
    func keysSettled() throws { try open() }

    private func open() throws {
        guard let own = try OwnDevice.load(step.account.id, from: step.database), own.isRead, !own.isOpen,
            try stage(.axolotl) == .ready
        else { return }
        if try EnabledVersions(step: step).usesOMEMO2 {
            guard [.ready, .refused].contains(try stage(.omemo2)) else { return }
        }
        try OwnDevice.set(isOpen: true, in: step)
        try EncryptionQueue(step: step).retryAll()
        try resume()
        // Messages may have been scheduled before.
        step.flush()
    }

    private func stage(_ dialect: OMEMOVersion) throws -> KeyPublicationState.Stage? {
        try KeyPublicationRow.load(step.account.id, dialect, from: step.database)?.state.stage
    }

    /// Sends the outstanding empty messages, and repairs sessions.
    func resume() throws {
        guard try EmptyMessages.isAny(of: step.account, in: step.database),
            let own = try OwnDevice.load(step.account.id, from: step.database), own.isOpen
        else { return }
        try EmptyMessages(step: step).send(own)
        try SessionRepair(step: step).begin()
        step.flush()
    }
}
