import KalijCore
import KalijCoordination
import KalijStore

/// The shutdown of an engine: its work is done, it was stopped, or it has failed.
extension Engine {
    /// - Parameter isDone: whether the engine ends because its work is done.
    package func end(_ ending: Ending, isDone: Bool = false) {
        guard stopping.end(ending, isDone: isDone, at: clock.monotonic()) else { return }
        // A write that another process's transaction blocks is left to the next driver, as after the death of this process.
        database.wait(atMost: ShutdownState.databaseTimeout)
        // Processes that signal from now on must not rely on this process.
        doorbell.stopListening()
        context?.services.stop()
        // Connections flush their remaining bytes, for a limited time, before the loop ends.
        var open = drivers.count
        if open == 0 { environment.loop.enqueue { [weak self] in self?.ended() } }
        for driver in drivers.values {
            driver.shutDown { [weak self] _ in
                open -= 1
                if open == 0 { self?.ended() }
            }
        }
    }

    package func fail(_ error: any Error) {
        if stopping.failed(error) { return stop() }
        // Another process drives: this process must not release what the other one holds.
        reportDoubt()
        environment.loop.stop()
    }

    private func ended() {
        if stopping.failure == nil {
            context?.services.finish()
            do {
                // A mailbox request may have arrived between the last check and the end of listening: the check and the
                // withdrawal are therefore one transaction.
                let letters = try lastLetters()
                if stopping.isDone {
                    guard let letters else { return endLater() }
                    if hasQueued || !letters.isEmpty { return try restart(letters) }
                }
                // The next driver has to be careful if this driver was careful to the end.
                if !drivers.values.contains(where: \.redelivery.isCareful) { try fence.letGo(database) }
            } catch let error as StoreError where error.isMachineError {
                // Another process is within a transaction, or the disk is full: the next driver is careful.
            } catch {
                stopping.releaseFailed(error)
            }
        }
        doorbell.disconnectCallers()
        environment.loop.stop()
    }

    /// Withdraws this process as a receiver of mailbox requests.
    /// - Returns: the remaining requests. Nil if another process locks the mailbox for too long. In that case the next driver
    ///   finds the requests, their senders detect the end of the connection and check for themselves, and no process signals this
    ///   one any more.
    private func lastLetters() throws -> [MailboxMessage]? {
        let number = fence.owner.number
        mailbox.wait(atMost: stopping.mailboxTimeout(at: clock.monotonic()))
        do {
            let letters = try mailbox.withdraw(.driver, as: number, now: steady.now)
            if !stopping.isDone, !letters.isEmpty { _ = try mailbox.withdraw(.driver, as: number, now: steady.now) }
            return letters
        } catch let error as StoreError where error.code == .busy {
            return stopping.abandonsMailbox(at: clock.monotonic()) ? [] : nil
        } catch let error as StoreError where error.isDamage(ofMailboxIn: directory.path) {
            // The next driver replaces the mailbox.
            return []
        }
    }

    /// Retries later: in between the loop runs, and another process can stop this one.
    private func endLater() {
        _ = environment.loop.schedule(after: 0.05) { [weak self] in self?.ended() }
    }

    private func restart(_ letters: [MailboxMessage]) throws {
        stopping.resume()
        database.wait(atMost: 10)
        mailbox.wait(atMost: 10)
        doorbell.disconnectCallers()
        doorbell = try DoorbellListener(directory, of: fence, in: database, loop: environment.loop)
        listen()
        try mailbox.announce(.driver, number: fence.owner.number)
        drivers = [:]
        try startDrivers()
        importMailbox()
        wake?.begin()
        for letter in letters { try handle(letter) }
        receiveLetters()
    }
}
