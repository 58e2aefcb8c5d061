import KalijCore
import KalijCoordination
import KalijStore
import KalijTransport

/// The import of messages that other processes have enqueued in the mailbox.
extension Engine {
    /// The state of the import.
    package struct Sharing {
        /// Seconds until the next attempt if the database cannot be written.
        package static let pause = 5.0
        /// The timer of the next attempt.
        package var retryTimer: Timer?
        /// How many damaged mailboxes were replaced.
        package var replaced = 0
    }

    /// Whether the mailbox holds messages to import.
    package var hasShared: Bool {
        get throws {
            guard let context else { return false }
            return try MailboxImporter(runner: context.runner, store: mailbox.parcels).hasItems
        }
    }

    /// Imports the messages, and sends them.
    package func importMailbox() {
        guard let context, !stopping.isStopping else { return }
        sharing.retryTimer?.cancel()
        sharing.retryTimer = nil
        do {
            if Mailbox.takeReport(in: directory.path) { _ = try replaceMailbox() }
            try MailboxImporter(runner: context.runner, store: mailbox.parcels).run { account, effects in
                guard let driver = drivers[account.id] else { return context.emit(effects.events) }
                driver.release(effects)
                driver.queueChanged()
            }
        } catch let error as StoreError where error.isMachineError {
            if error.code == .busy { endFrozenWriters() }
            sharing.retryTimer = environment.loop.schedule(after: Sharing.pause) { [weak self] in self?.importMailbox()
            }
        } catch let error as StoreError where error.isDamage(ofMailboxIn: directory.path) {
            mailboxFailed(error)
        } catch { fail(error) }
    }

    /// A database reported an error that indicates a damaged file: the mailbox, or possibly the accounts' database.
    package func mailboxFailed(_ error: StoreError) {
        do {
            guard try replaceMailbox() else { return fail(error) }
            importMailbox()
        } catch { fail(error) }
    }

    /// Replaces a damaged mailbox by a new one; the damaged one is set aside.
    /// - Returns: false if the mailbox is intact.
    private func replaceMailbox() throws -> Bool {
        try fence.check(database)
        // A disk that damages every new mailbox must not keep this process busy for ever.
        guard sharing.replaced < 10 else { return false }
        let damage = try Mailbox.setAsideIfDamaged(
            directory.path, taken: try MailboxImporter.place(in: database), now: clock.now())
        guard let damage else { return false }
        sharing.replaced += 1
        mailbox = try directory.mailbox()
        mailbox.damage = damage
        try mailbox.announce(.driver, number: fence.owner.number)
        reportDamage()
        return true
    }

    /// Reports the damage of the mailbox, with an event and a dead letter in each account.
    package func reportDamage() {
        guard let context, let damage = mailbox.damage else { return }
        mailbox.damage = nil
        for driver in drivers.values {
            driver.attempt {
                driver.release(try context.runner.run("mailbox", for: driver.account) { try $0.record(damage) })
            }
        }
    }
}
