import KalijSteps
import KalijFeatures
import KalijRoles
import KalijStore

/// The end of an engine: its work is done, the engine was stopped, or cannot go on.
extension Engine {
    /// The longest wait, in seconds, for a writer of the accounts' database at the end.
    private static let databasePatience = 0.1
    /// Seconds from the beginning of the end to the last look into the mailbox: everything is let go within a second.
    private static let mailboxPatience = 0.6
    /// The same, in seconds, if nobody has told this process to end.
    private static let longMailboxPatience = 10.0

    func end(_ ending: Ending) {
        if case FenceError.stale? = failure {
            // The engine is ending because another process drives. Now the engine was told to end, and must not take
            // over again.
            (failure, self.ending) = (nil, ending)
        }
        // An engine that is ending because its work is done was told to end: it neither waits nor goes on.
        guard !isStopping else { return isDone = false }
        isStopping = true
        self.ending = ending
        stoppedAt = clock.monotonic()
        // Writes that another process's step prevents now are done by the next driver, as after the death of this
        // process.
        database.wait(atMost: Self.databasePatience)
        // Processes that ring from now on must not rely on this process.
        doorbell.stopListening()
        // Connections write their remaining bytes, for a limited time, before the loop ends.
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
            // All further writes would be refused, and other processes hold everything already. An engine that was told
            // to end ends, and must not take over again.
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
                // A letter may have come between the last look and the end of listening: so the look and the end of
                // receiving are one transaction.
                let letters = try lastLetters()
                if isDone {
                    guard let letters else { return endLater() }
                    if hasQueued || !letters.isEmpty { return try startAgain(letters) }
                }
                // The next driver has to be careful if this driver was careful to the end.
                if !drivers.values.contains(where: \.redelivery.isCareful) { try fence.letGo(database) }
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
    /// - Returns: the remaining letters. Nil if another process keeps the mailbox for too long. Then the next driver
    ///   finds the letters, the senders hear the end of the connection and look themselves, and nobody is rung any
    ///   more.
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
            // The next driver sets the mailbox aside.
            return []
        }
    }

    /// Looks again later: in between the loop turns, and another process can tell this process to end.
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
