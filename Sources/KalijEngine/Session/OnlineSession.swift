import KalijCore
import KalijStream
import KalijXML

/// A session on a connection: handles arriving stanzas, writes the queue, and manages the acknowledgements in both directions.
package final class OnlineSession {
    /// RFC 6121 section 4.5.1 requires unavailable presence before a stream ends.
    private static let unavailable = Array("<presence type='unavailable'/>".utf8)

    private weak var driver: AccountDriver?
    private let line: ClientStream
    private let context: DriverContext
    private let steps: SessionSteps
    private let handling: StanzaHandling
    package var acknowledging: AckPolicy
    /// The counters; nil on a stream without stream management.
    package private(set) var management: StreamManagement?

    package init(_ driver: AccountDriver, _ line: ClientStream, _ management: StreamManagement?) {
        (self.driver, self.line, self.management) = (driver, line, management)
        (context, steps, handling) = (driver.context, driver.steps, StanzaHandling(driver))
        acknowledging = AckPolicy(
            isManaged: management != nil, longestSilence: driver.context.timing.acknowledgement,
            handled: management?.handled ?? .zero)
    }

    /// Whether the stream has bytes to send, or awaits an acknowledgement.
    package var isBusy: Bool { line.unsent > 0 || acknowledging.writer.isRequested }

    /// Whether the link is slow, and the process has time.
    package var isLinkSlow: Bool { pace.isSlow }

    // MARK: Receiving

    /// Releases memory in the session's first pause: catching up took many statements that an idle session does not need again.
    package func awaitPause() {
        acknowledging.isPaused = true
        driver?.alarms.set(.pause, after: context.timing.stable) { [weak self] in
            guard let self else { return }
            if acknowledging.isPaused { context.runner.releaseMemory() } else { awaitPause() }
        }
    }

    /// Handles the inbox's first event, together with all following events that may share its transaction.
    package func handleNext(_ event: StreamParserEvent) throws {
        if try handleTogether() { return }
        try handle(event)
        line.inbox.removeFirst()
    }

    /// Handles the stanzas at the front of the inbox in one transaction.
    /// - Returns: false if nothing was handled, and the next event is to be handled individually. After an error of a step or of
    ///   the commit this applies to every stanza of the batch, so that only the stanza that causes the error fails.
    private func handleTogether() throws -> Bool {
        // The attempt at a stanza that may have ended an earlier process is committed before the step.
        guard line.inbox.alone == 0, driver?.redelivery.isOver ?? false, let management,
            var batch = Batch(line.inbox.waiting, management, isAlone: handling.isAlone)
        else { return false }
        do {
            let effects = try steps.handle(&batch)
            self.management = batch.management
            acknowledging.requested(batch.requests)
            line.inbox.removeFirst(batch.consumed)
            effects.forEach(release)
            return true
        } catch {
            // The first step was not started.
            guard batch.consumed > 0 else { throw error }
            line.inbox.handleAlone(batch.consumed)
            return false
        }
    }

    private func handle(_ event: StreamParserEvent) throws {
        switch event {
        case .element(let element): try handle(element)
        case .skipped(let skipped):
            var management = management
            let count = management?.receiveSkipped(name: skipped.name, namespace: skipped.namespace)
            let effects = try steps.quarantine(QuarantinedStanza(skipped), count: count)
            self.management = management
            driver?.release(effects)
        case .closed: throw StreamFailure.closed
        case .opened: break
        }
    }

    private func handle(_ element: Element) throws {
        guard var management else {
            if let error = StreamError(element) { throw StreamFailure.stream(error) }
            let effects = try handling.handle(element, nil)
            acknowledging.writer.answers.queued(effects.answers, isManaged: false)
            driver?.release(effects)
            return
        }
        switch try management.receive(element, unacknowledged: acknowledging.writer.outstanding) {
        case .stanza(let count):
            let effects = try handling.handle(element, count)
            driver?.redelivery.attemptEnded()
            self.management = management
            release(effects)
        case .acknowledgementRequested: acknowledging.requested()
        case .acknowledged(let newly):
            let isNews = newly > 0 || acknowledging.writer.isDoubtful
            let effects = isNews ? try steps.acknowledged(management.acknowledged) : Step.Effects()
            acknowledging.writer.isDoubtful = false
            self.management = management
            let actions = acknowledging.acknowledged(newly)
            perform(actions)
            release(effects)
            if actions.contains(.answered) { driver?.logout?.caughtUp() }
            if newly > 0 { driver?.due.acknowledged() }
            context.mayHaveEnded()
        case .streamError(let error): throw StreamFailure.stream(error)
        // After a login with SASL2 the features follow the session.
        case .nonza: try StreamFeatures(element).map(steps.record)
        }
    }

    private func release(_ effects: Step.Effects) {
        acknowledging.writer.answers.queued(effects.answers)
        driver?.release(effects)
    }

    // MARK: Acknowledging

    /// Sends the outstanding acknowledgements, once the acknowledged stanzas are on the disk, as far as the connection has room:
    /// a server may send requests without limit and read nothing.
    package func acknowledge() throws {
        guard let management else { return }
        acknowledging.handled(management.handled, at: context.loop.now)
        guard acknowledging.outstandingAcks > 0, line.hasRoom else { return }
        try context.runner.raiseBarrier()
        while acknowledging.outstandingAcks > 0, line.hasRoom {
            line.send(StreamManagement.acknowledgement(management.handled))
            acknowledging.paid(1)
        }
    }

    private var pace: AckTimeouts {
        let quality = context.runner.isBrief ? nil : context.runner.links[steps.account.id]
        return AckTimeouts(line, quality, longest: context.timing.acknowledgement)
    }

    /// Requests an acknowledgement, due within the given number of seconds of silence, or more over a slow link.
    package func request(within seconds: Double? = nil) {
        perform(acknowledging.request(within: seconds.map(pace.atLeast) ?? pace.timeout))
    }

    /// Checks whether the connection is still alive.
    package func networkChanged() {
        perform(acknowledging.networkChanged(within: pace.atLeast(context.timing.networkCheck)))
    }

    /// Sends a keepalive after each long silence.
    package func keepAlive() {
        driver?.alarms.set(.keepalive, after: context.timing.keepalive) { [weak self] in
            guard let self else { return }
            perform(acknowledging.keepAlive(within: pace.timeout))
            keepAlive()
        }
    }

    private func perform(_ actions: [AckPolicy.Action]) {
        for action in actions {
            switch action {
            case .request:
                driver?.alarms.cancel(.request)
                line.roundTripBegan()
                line.send(StreamManagement.request)
            case .later(let seconds):
                driver?.alarms.set(.request, after: seconds) { [weak self] in
                    guard let self else { return }
                    perform(acknowledging.pauseEnded(within: pace.timeout))
                }
            case .whiteSpace: line.send([0x20])
            case .wait(let seconds):
                driver?.alarms.set(.answer, after: seconds) { [weak self] in
                    guard let self, let driver else { return }
                    perform(acknowledging.silence(isBlocked: driver.storage.isWaiting))
                }
            case .answered:
                line.roundTripEnded()
                driver?.alarms.cancel(.answer)
                driver?.redelivery.passed()
                driver?.reconnecting.acknowledged()
            case .close(let seconds):
                driver?.reconnecting.fellSilent()
                driver?.disconnect(Reason(.silence, "\(Int(seconds))"))
            }
        }
    }

    // MARK: Sending

    /// There may be something new to write.
    package func queueChanged() { acknowledging.queueChanged() }

    /// Writes the queue as far as the connection has room, and requests acknowledgements.
    package func flush() throws {
        if acknowledging.writer.mayHaveMore { try writeQueue() }
        perform(acknowledging.flushed(within: pace.timeout, isSlow: pace.isSlow, at: context.loop.now))
        if acknowledging.writer.answers.areRefused {
            driver?.reconnecting.fellSilent()
            driver?.disconnect(Reason(other: "the server acknowledges no answers to its requests"))
        } else if !acknowledging.writer.answers.mayRead {
            line.isReading = false
        }
    }

    private func writeQueue() throws {
        let queue = QueueSteps(runner: context.runner, account: steps.account)
        while line.hasRoom {
            switch try queue.next(after: acknowledging.writer, isManaged: management != nil) {
            case .nothing:
                if acknowledging.writer.answers.written() { line.isReading = true }
                return acknowledging.queueWritten()
            // Nothing is sent before the acknowledgement of a single stanza, for which the connection has to be read.
            case .later:
                if acknowledging.writer.answers.written() { line.isReading = true }
                return
            case .refused(let effects), .queued(let effects): driver?.release(effects)
            case .transmit(let entries, let effects):
                driver?.release(effects)
                for entry in entries { line.send(entry.stanza) }
                acknowledging.wrote(entries)
                guard management == nil else { continue }
                driver?.release(try queue.transmitted(entries))
                context.mayHaveEnded()
            }
        }
    }

    /// The server has ended the stream with `error`, possibly because of an unacknowledged stanza. From then on the
    /// unacknowledged stanzas are sent one at a time, and a stanza that ends the stream again is set aside.
    package func blame(_ error: StreamError) {
        guard error.mayBlameStanza, management != nil, acknowledging.writer.outstanding > 0 else { return }
        let queue = QueueSteps(runner: context.runner, account: steps.account)
        driver?.attempt { driver?.release(try queue.blamed(through: acknowledging.writer.position, for: error)) }
    }

    /// Sends the client state (XEP-0352), if the server supports it: the server pushes less for an inactive client. Each
    /// connected process declares itself active: otherwise a server may hold back unimportant stanzas, which include the events
    /// that withdraw notifications.
    package func sendClientState(isWatched: Bool) {
        // Without pushes the client state has no benefit.
        guard (try? steps.isPushed()) ?? false else { return }
        let isOffered = try? SessionRow.offers(
            "csi", ClientState.namespace, to: steps.account.id, in: context.runner.database)
        if isOffered ?? false { line.send(isWatched ? ClientState.active : ClientState.inactive) }
    }

    /// Writes the queue, and acknowledges the handled stanzas.
    /// - Parameter endingSession: whether the session ends, and not only the connection; in that case nothing new is written.
    package func shutDown(endingSession: Bool) {
        if !endingSession { try? flush() }
        line.isReading = false
        if management != nil {
            acknowledging.shuttingDown()
            try? acknowledge()
        } else if !endingSession {
            line.send(StreamManagement.end)
        }
        if endingSession {
            line.send(Self.unavailable)
        } else if management != nil {
            // Without stream management the stream has just ended.
            sendClientState(isWatched: false)
        }
    }
}
