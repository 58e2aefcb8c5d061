import KalijFeatures
import KalijRoles
import KalijStore

/// What other processes have left in the mailbox.
extension Engine {
    /// Seconds until it is tried again, where the database cannot be written.
    private static let pause = 5.0

    /// Whether something waits there.
    var hasShared: Bool {
        get throws {
            guard let context else { return false }
            return try Taking(runner: context.runner, shelf: mailbox.shelf).isWanted
        }
    }

    /// Takes it over, and sends it.
    func takeWhatIsShared() {
        guard let context, !isStopping else { return }
        takingAgain?.cancel()
        takingAgain = nil
        do {
            if Mailbox.takeReport(in: directory.path) { _ = try replaceMailbox() }
            try Taking(runner: context.runner, shelf: mailbox.shelf).run { account, effects in
                guard let driver = drivers[account.id] else { return context.emit(effects.events) }
                driver.commit(effects)
                driver.queueChanged()
            }
        } catch let error as StoreError where error.isMachineError {
            if error.code == .busy { endFrozenWriters() }
            takingAgain = ground.loop.schedule(after: Self.pause) { [weak self] in self?.takeWhatIsShared() }
        } catch let error as StoreError where error.isDamage(ofMailboxIn: directory.path) {
            mailboxFailed(error)
        } catch { fail(error) }
    }

    /// The mailbox, or perhaps the accounts' database, gives an error that only a damaged file gives.
    func mailboxFailed(_ error: StoreError) {
        do {
            guard try replaceMailbox() else { return fail(error) }
            takeWhatIsShared()
        } catch { fail(error) }
    }

    /// Sets the mailbox aside if it is damaged, and goes on with another one.
    /// - Returns: false if it is in order.
    private func replaceMailbox() throws -> Bool {
        try fence.check(database)
        // A disk that damages each new one is not to keep this process busy without end.
        guard replacedMailboxes < 10 else { return false }
        let damage = try Mailbox.setAsideIfDamaged(
            directory.path, taken: try Taking.place(in: database), now: clock.now())
        guard let damage else { return false }
        replacedMailboxes += 1
        mailbox = try directory.mailbox()
        mailbox.damage = damage
        try mailbox.announce(.driver, number: fence.owner.number)
        tellOfDamage()
        return true
    }

    /// Tells that the mailbox was damaged: an event and a dead letter of each account.
    func tellOfDamage() {
        guard let context, let damage = mailbox.damage else { return }
        mailbox.damage = nil
        for driver in drivers.values {
            driver.attempt {
                driver.commit(try context.runner.run("mailbox", for: driver.account) { try $0.note(damage) })
            }
        }
    }
}
