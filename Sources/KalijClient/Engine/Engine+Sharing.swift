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
            try Taking(runner: context.runner, shelf: mailbox.shelf).run { account, effects in
                guard let driver = drivers[account.id] else { return context.emit(effects.events) }
                driver.commit(effects)
                driver.queueChanged()
            }
        } catch let error as StoreError where error.isMachineError {
            if error.code == .busy { endFrozenWriters() }
            takingAgain = ground.loop.schedule(after: Self.pause) { [weak self] in self?.takeWhatIsShared() }
        } catch { fail(error) }
    }
}
