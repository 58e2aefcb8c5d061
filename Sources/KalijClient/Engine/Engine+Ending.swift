import KalijSteps
import KalijFeatures
import KalijRoles
import KalijStore

/// How it ends: by itself, told to, or because it cannot go on.
extension Engine {
    /// Seconds for a writer of the accounts' database while everything is let go.
    private static let databasePatience = 0.1
    /// Seconds from the begin of stopping in which the mailbox is looked at for the last time: within a second everything is let
    /// go.
    private static let mailboxPatience = 0.6
    /// Seconds for it where nobody has told this process to end.
    private static let longMailboxPatience = 10.0

    func end(_ ending: Ending) {
        if case FenceError.stale? = failure {
            // It is ending because another process drives: now it was told to, and must not take over again.
            (failure, self.ending) = (nil, ending)
        }
        // Told to end while it does by itself, it does so without waiting for anything or going on.
        guard !isStopping else { return isDone = false }
        isStopping = true
        self.ending = ending
        stoppedAt = clock.monotonic()
        // What a step of another process keeps from being written now is done by the next driver, as if this one had died.
        database.wait(atMost: Self.databasePatience)
        // Who rings from now on must not rely on this process.
        doorbell.stopListening()
        // Connections write what they still have, for a bounded time, before the loop ends.
        var open = drivers.count
        if open == 0 { ground.loop.enqueue { [weak self] in self?.ended() } }
        for driver in drivers.values {
            driver.letGo { [weak self] in
                open -= 1
                if open == 0 { self?.ended() }
            }
        }
    }

    func fail(_ error: any Error) {
        if case FenceError.stale = error {
            // Whatever this process still did would be refused: nothing is let go that another one holds. One that was
            // told to end ends; it must not take over again.
            if !isStopping { failure = failure ?? error }
            tellOfDoubt()
            isStopping = true
            ground.loop.stop()
        } else {
            failure = failure ?? error
            stop()
        }
    }

    private func ended() {
        if failure == nil {
            markShown()
            do {
                // Somebody may have come between the last look and the end of listening: the look and the end of receiving
                // are one.
                let letters = try lastLetters()
                if isDone {
                    guard let letters else { return endLater() }
                    if hasQueued || !letters.isEmpty { return try startAgain(letters) }
                }
                // The next driver has to be careful if this one was, to the end.
                if !drivers.values.contains(where: \.isCareful) { try fence.letGo(database) }
            } catch let error as StoreError where error.isMachineError {
                // Another process is within a transaction, or the disk is full: the next driver is careful.
            } catch {
                failure = error
            }
        }
        doorbell.letCallersGo()
        ground.loop.stop()
    }

    /// Ends receiving.
    /// - Returns: the letters that are left. Nil if another process keeps the mailbox for too long: the next driver finds the
    ///   letters, who waits for an answer hears the end of the connection and looks itself, and nobody is rung any more.
    private func lastLetters() throws -> [Letter]? {
        let number = fence.owner.number
        let left = Self.mailboxPatience - Double(clock.monotonic() - stoppedAt) / 1_000_000_000
        mailbox.wait(atMost: max(0.1, left))
        do {
            let letters = try mailbox.withdraw(.driver, as: number, now: steady.now)
            if !isDone, !letters.isEmpty { _ = try mailbox.withdraw(.driver, as: number, now: steady.now) }
            return letters
        } catch let error as StoreError where error.code == .busy {
            let waited = Double(clock.monotonic() - stoppedAt) / 1_000_000_000
            guard isDone, waited > Self.longMailboxPatience else { return nil }
            return []
        } catch let error as StoreError where error.isDamage(ofMailboxIn: directory.path) {
            // The next driver sets it aside.
            return []
        }
    }

    /// Looks again, between two turns of the loop, in which somebody can tell this process to end.
    private func endLater() {
        _ = ground.loop.schedule(after: 0.05) { [weak self] in self?.ended() }
    }

    private func startAgain(_ letters: [Letter]) throws {
        (isStopping, isDone) = (false, false)
        database.wait(atMost: 10)
        mailbox.wait(atMost: 10)
        doorbell.letCallersGo()
        doorbell = try DoorbellWatch(directory, of: fence, in: database, loop: ground.loop)
        doorbell.onRing = { [weak self] in self?.rung() }
        try mailbox.announce(.driver, number: fence.owner.number)
        drivers = [:]
        try startDrivers()
        takeWhatIsShared()
        wake?.begin()
        for letter in letters { try handle(letter) }
        receiveLetters()
    }
}
