import KalijSteps
import KalijFeatures
import KalijStore
import KalijStream
import KalijTransport
import KalijXML

/// The life of a session.
extension AccountDriver {
    func handle(_ event: StreamParserEvent, _ management: StreamManagement?) throws {
        (timers.heard, timers.heardMeanwhile) = (true, true)
        switch event {
        case .element(let element): try handle(element, management)
        case .skipped(let skipped):
            var management = management
            let count = management?.receiveSkipped(name: skipped.name, namespace: skipped.namespace)
            let effects = try steps.quarantine(QuarantinedStanza(skipped), count: count)
            stage = .online(management)
            commit(effects)
        case .closed: throw StreamFailure.closed
        case .opened: break
        }
    }

    private func handle(_ element: Element, _ management: StreamManagement?) throws {
        guard var management else { return try handleUnmanaged(element) }
        switch try management.receive(element, unacknowledged: writer.outstanding) {
        case .stanza(let count):
            let effects = try handle(stanza: element, count)
            attemptBegun = nil
            stage = .online(management)
            commit(effects)
            readArchiveInTime(effects)
        case .acknowledgementRequested:
            requestsToAnswer += 1
        case .acknowledged(let newly):
            let effects = newly > 0 ? try steps.acknowledged(management.acknowledged) : Step.Effects()
            stage = .online(management)
            let isAnswer = acknowledged(newly)
            commit(effects)
            readArchiveInTime(effects)
            if isAnswer { leaveIfResumed() }
            if newly > 0 { expireIfMarked() }
            context.mayHaveEnded()
        case .streamError(let error): throw StreamFailure.stream(error)
        case .nonza: break
        }
    }

    private func handle(stanza: Element, _ count: HandledCount) throws -> Step.Effects {
        if isCareful, attemptBegun?.count != count {
            let number = try Attempts(runner: context.runner, account: account).begin(count)
            attemptBegun = (count, number)
        }
        if let number = attemptBegun?.number, number >= Attempts.last {
            return try steps.quarantine(QuarantinedStanza(stanza, attempts: number), count: count)
        }
        return try steps.handle(stanza, count: count)
    }

    private func handleUnmanaged(_ element: Element) throws {
        if let error = StreamError(element) { throw StreamFailure.stream(error) }
        commit(try steps.handle(element, count: nil))
    }

    /// Lets out what a committed step had to say.
    func commit(_ effects: Step.Effects) {
        context.emit(effects.events)
        if effects.notified { context.notified() }
        if effects.queued { writer.mayHaveMore = true }
        if let deadline = effects.deadline { watch(deadline: deadline) }
        if let time = effects.timer { watch(timer: time) }
        context.settled(effects.settled)
        // In the loop's next turn: what is at hand is finished first.
        if effects.handled { context.loop.enqueue { [weak self] in self?.context.mayHaveEnded() } }
        if effects.archiveAgain { readArchiveLater() }
    }

    func readArchiveLater() {
        timers.archive(context.timing.archiveRetry, on: context.loop) { [weak self] in self?.readArchive() }
    }

    /// Messages that may come live or be acknowledged before the archive is read again.
    private static let longestTail = 200

    func readArchiveInTime(_ effects: Step.Effects) {
        if effects.events.contains(where: { $0.content is CaughtUp }) { tail = 0 }
        tail += effects.tail
        guard tail >= Self.longestTail else { return }
        tail = 0
        context.loop.enqueue { [weak self] in self?.readArchive() }
    }

    /// Reads what was archived since it was last read to its end.
    private func readArchive() {
        guard isOnline else { return }
        attempt {
            commit(try steps.readArchive())
            try flush()
        }
        // Messages may wait for it.
        if isWaitingForStorage { readArchiveLater() }
    }

    // MARK: Acknowledging

    /// Answers the requests for an acknowledgement, once what it claims is on the disk.
    func acknowledge() throws {
        guard requestsToAnswer > 0, case .online(let management?) = stage else { return }
        try context.runner.raiseBarrier()
        for _ in 0..<requestsToAnswer { connection?.send(StreamManagement.acknowledgement(management.handled)) }
        requestsToAnswer = 0
    }

    /// - Returns: whether it is the answer to our `<r/>`: a server may acknowledge unasked, too (XEP-0198 section 4).
    private func acknowledged(_ newly: UInt32) -> Bool {
        // A server that is behind is asked again when there is something new, not at once. What was written behind the
        // request that it answers is new.
        if newly > 0 { mayRequest = true }
        guard writer.acknowledged(newly) else { return false }
        requestAnswered()
        return true
    }

    private func requestAnswered() {
        timers.answered()
        isCareful = false
    }

    func requestAcknowledgement(within seconds: Double) {
        guard case .online(.some) = stage, !writer.isRequested || writer.isBehind else { return }
        connection?.send(StreamManagement.request)
        writer.request()
        mayRequest = false
        awaitAcknowledgement(seconds)
    }

    /// Gives up the connection if no answer comes within `seconds` of silence, but waits as long as usual while something else
    /// comes: over a slow line what is before the answer may take long.
    func awaitAcknowledgement(_ seconds: Double, waited: Double = 0) {
        timers.awaitAnswer(seconds, on: context.loop) { [weak self] in
            guard let self else { return }
            // While the database cannot be written nothing is read, the answer neither.
            guard !isWaitingForStorage else { return awaitAcknowledgement(seconds, waited: waited) }
            if timers.heardMeanwhile, waited + seconds < context.timing.acknowledgement {
                return awaitAcknowledgement(seconds, waited: waited + seconds)
            }
            guard !writer.isBehind else {
                // It did answer, with less than was sent before.
                writer.giveUpRequest()
                return requestAnswered()
            }
            disconnect("the server did not acknowledge anything for \(Int(waited + seconds)) s")
        }
    }

    /// A sign of life after a long silence: a request, or white space where requests are not understood.
    func keepAlive() {
        let timing = context.timing
        timers.keepalive(timing.keepalive, on: context.loop) { [weak self] in
            guard let self else { return }
            if !timers.heard {
                if case .online(.some) = stage {
                    requestAcknowledgement(within: timing.acknowledgement)
                } else {
                    connection?.send([0x20])
                }
            }
            timers.heard = false
            keepAlive()
        }
    }

    // MARK: Sending

    /// The server has ended the stream with `error`: perhaps for a stanza of ours that it has not acknowledged. From then on
    /// such stanzas leave one at a time, and the one for which it happens again is set aside.
    func blame(_ error: StreamError) {
        guard error.mayBlameStanza, case .online(.some) = stage, writer.outstanding > 0 else { return }
        let position = writer.position
        attempt { commit(try steps.blamed(through: position, for: error)) }
    }

    /// Bytes that may wait for the kernel before more of the queue is read.
    private static let unsentLimit = 256 * 1024

    /// Writes what is queued and not written yet on this connection, and asks for what is not acknowledged yet.
    func flush() throws {
        guard case .online(let management) = stage else { return }
        if writer.mayHaveMore { try writeQueue(management) }
        if writer.outstanding > 0, mayRequest { requestAcknowledgement(within: context.timing.acknowledgement) }
    }

    private func writeQueue(_ management: StreamManagement?) throws {
        guard let connection else { return }
        let queue = OutboundQueue(database: context.runner.database, account: account.id)
        while connection.unsent < Self.unsentLimit {
            let next = try queue.entries(after: writer.position, limit: 50)
            // After the look: what it found was committed before anybody else could have raised the fence.
            if !next.isEmpty { try context.runner.checkFence() }
            guard !next.isEmpty else {
                writer.mayHaveMore = false
                break
            }
            if let effects = try steps.setAsideTooLong(next) {
                commit(effects)
                continue
            }
            let entries = management == nil ? next : Array(writer.leaving(next))
            guard !entries.isEmpty else { break }
            let effects = try steps.leaving(entries)
            // Forgotten by a power failure, a message would leave once more in a new session; and in this one the server's
            // count would be taken for that of whatever was queued since (simulation, seed 1777).
            try context.runner.raiseBarrier()
            commit(effects)
            for entry in entries { connection.send(entry.stanza) }
            writer.wrote(entries)
            mayRequest = true
            if management == nil {
                commit(try steps.left(entries))
                context.mayHaveEnded()
            }
        }
    }
}
