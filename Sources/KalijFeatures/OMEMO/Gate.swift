import KalijRatchet
import KalijSteps
import KalijStore

/// Whether messages may be encrypted. They may once the keys of this device are published in the session, and the archive was read:
/// an old copy of the database would use keys again that were used.
struct Gate {
    let step: Step

    /// A session began, and nothing of it is known.
    func sessionLost() throws {
        try OwnDevice.set(isRead: false, in: step)
        try OwnDevice.set(isOpen: false, in: step)
    }

    /// The account's archive was read to its end, or there is none.
    func archiveRead() throws {
        try OwnDevice.set(isRead: true, in: step)
        for dialect in Dialect.allCases { try OwnKeys(step: step, dialect: dialect).archiveRead() }
        try open()
        try Aside(step: step).read()
        try goOn()
    }

    func keysPublished() throws { try open() }

    private func open() throws {
        guard let own = try OwnDevice.load(step.account.id, from: step.database), own.isRead, !own.isOpen,
            try OwnRow.load(step.account.id, .axolotl, from: step.database)?.state.stage == .ready
        else { return }
        try OwnDevice.set(isOpen: true, in: step)
        try Turns(step: step).again()
        try goOn()
        // Messages may have had their turns before.
        step.flush()
    }

    /// Sends what is owed, and mends sessions.
    func goOn() throws {
        guard try EmptyMessages.isAny(of: step.account, in: step.database),
            let own = try OwnDevice.load(step.account.id, from: step.database), own.isOpen
        else { return }
        try EmptyMessages(step: step).send(own)
        try Healing(step: step).begin()
        step.flush()
    }
}
