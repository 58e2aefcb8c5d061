import KalijSteps
import KalijFeatures
import KalijAddress
import KalijRoles
import KalijStore
import KalijStream
import KalijTransport
import KalijXML

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Keeps one account online: connects, negotiates, turns what arrives into steps, writes what is queued.
///
/// It holds nothing that matters: what a new process needs is in the database, and this one loses nothing by dying.
final class AccountDriver {
    let account: Account
    let context: DriverContext
    let steps: SessionSteps
    private(set) var connection: (any StreamConnection)?
    var stage = Stage.offline
    var writer = OutboundWriter()
    /// How many `<r/>` are to be answered.
    var requestsToAnswer = 0
    /// Whether each stanza is preceded by an attempt row: until the redelivered ones are past.
    var isCareful: Bool
    /// The stanza whose attempt was begun in this process and has not ended, and which attempt it is.
    var attemptBegun: (count: HandledCount, number: Int)?
    /// Whether there is something new to ask the server about.
    var mayRequest = true
    /// Messages that came live or were acknowledged since the archive was read.
    var tail = 0
    /// Whether the server offers stream management on the present connection.
    var managesStream = false
    /// Connections in a row that ended between `<resume/>` and its answer.
    var unansweredResumes = 0
    private var parser = StreamParser()
    var inbox = Inbox()
    /// How many of the next events are handled one by one, because handling them together has failed.
    var alone = 0
    /// Whether what has arrived is handled in the loop's next turn.
    private var isDrainPlanned = false
    /// When what has arrived is handled though nothing came behind it, which it waits for.
    private var gathering: Timer?
    private var backoff: Backoff
    private var retry: Timer?
    private var storageBackoff: Backoff
    private var storageRetry: Timer?
    private var isStorageBlocked = false
    let timers = SessionTimers()
    let deadlines = DueTimer()
    let dueTimers = DueTimer()
    var expiry = Expiry.none
    /// A logout that is under way.
    var leaving: Leaving?

    enum Stage {
        case offline
        case negotiating(Negotiation)
        case online(StreamManagement?)
        /// The server refuses the login.
        case refused(NegotiationError)
        /// Everything was let go.
        case stopped
    }

    init(_ account: Account, context: DriverContext, careful: Bool) {
        self.account = account
        self.context = context
        steps = SessionSteps(runner: context.runner, account: account)
        isCareful = careful
        backoff = Backoff(base: 1, limit: context.timing.longestRetry)
        storageBackoff = Backoff(base: 1, limit: context.timing.longestStorageRetry)
    }

    var isRefused: Bool { if case .refused = stage { true } else { false } }
    /// Why the server refuses the login; empty if it does not.
    var refusal: String { if case .refused(let error) = stage { error.description } else { "" } }
    var isWaitingForStorage: Bool { storageRetry != nil }
    var isStopped: Bool { if case .stopped = stage { true } else { false } }
    /// Whether the session is there and the server has answered everything that it was asked.
    var isSettled: Bool { isOnline && !writer.isRequested && !isCareful }
    /// Whether what arrives is handled.
    var isReading: Bool {
        get { connection?.isReading ?? true }
        set { if !isWaitingForStorage { connection?.isReading = newValue } }
    }
    var isOnline: Bool { if case .online = stage { true } else { false } }

    // MARK: Connecting

    /// Connects, unless a connection is there or being made.
    func connect() {
        guard case .offline = stage else { return }
        retry?.cancel()
        retry = nil
        emit(Connecting())
        parser = StreamParser()
        inbox = Inbox()
        stage = .negotiating(Negotiation(configuration))
        let connection = context.connect(account) { [weak self] in self?.handle($0) }
        self.connection = connection
        timers.deadline(context.timing.negotiation, on: context.loop) { [weak self] in
            self?.disconnect("no session after \(Int(self?.context.timing.negotiation ?? 0)) s")
        }
        connection.open()
    }

    private var configuration: Negotiation.Configuration {
        Negotiation.Configuration(
            account: account.jid, credentials: account.credentials, nonce: UUID().uuidString + UUID().uuidString,
            weakestMechanism: account.mechanism)
    }

    private func handle(_ event: ConnectionEvent) {
        switch event {
        case .connected(_, let tls): attempt { try negotiate(.connected(secured: tls != nil)) }
        case .secured: attempt { try negotiate(.secured) }
        case .received(let bytes): receive(bytes)
        case .drained: if !isWaitingForStorage { attempt { try flush() } }
        case .failed(let failure): ended(failure.description)
        case .closed(let error): ended(error?.description ?? "the server closed the connection")
        }
    }

    /// What came before the end is handled first.
    private func ended(_ reason: String) {
        drainPlanned()
        if connection != nil { disconnect(reason) }
    }

    // MARK: Receiving

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        do {
            try parser.feed(bytes) { inbox.append($0) }
        } catch let error as XMLError {
            inbox.fail(error)
        } catch {
            return disconnect("\(error)")
        }
        // Within a session, what else is there to be read is read first, so that it can be handled together.
        guard isOnline, inbox.error == nil, inbox.waiting.count < Self.longestInbox else { return drain() }
        guard !isDrainPlanned else { return }
        if context.timing.page > 0, inbox.endsWithinPage {
            gathering =
                gathering ?? context.loop.schedule(after: context.timing.page) { [weak self] in self?.drainPlanned() }
            return
        }
        isDrainPlanned = true
        context.loop.enqueue { [weak self] in self?.drainPlanned() }
    }

    /// How much is read before it is handled.
    private static let longestInbox = 200

    private func drainPlanned() {
        if isDrainPlanned || gathering != nil { drain() }
    }

    /// Handles what has arrived, up to the first thing that cannot be handled now.
    private func drain() {
        isDrainPlanned = false
        gathering?.cancel()
        gathering = nil
        attempt {
            while !isWaitingForStorage, connection != nil, let event = inbox.first {
                if try handleTogether() { continue }
                try handle(event)
                inbox.removeFirst()
                alone = max(0, alone - 1)
            }
            guard !isWaitingForStorage, connection != nil else { return }
            if let error = inbox.error { throw error }
            // Before a sync is waited for: a notification is owed from the commit on, and claims nothing to the server. What a
            // power failure takes back was not acknowledged; it comes again, and is shown again.
            context.notifyNow()
            // In this order one barrier serves both.
            try flush()
            try acknowledge()
        }
    }

    private func handle(_ event: StreamParserEvent) throws {
        switch stage {
        case .negotiating: try handle(negotiating: event)
        case .online(let management): try handle(event, management)
        case .offline, .refused, .stopped: break
        }
    }

    private func handle(negotiating event: StreamParserEvent) throws {
        switch event {
        case .opened(let header): try negotiate(.opened(header))
        case .element(let element): try negotiate(.element(element))
        case .skipped(let skipped):
            throw StreamFailure.beforeSession("a <\(skipped.name)/> over the limit on \(skipped.limit)")
        case .closed: try negotiate(.closed)
        }
    }

    /// A new stream begins on the same connection: what the old one still had is void.
    func restartStream() {
        parser = StreamParser()
        inbox.clear()
    }

    // MARK: Failing

    /// Runs `body`; what it throws decides whether the connection ends, the process waits, or the account stops.
    func attempt(_ body: () throws -> Void) {
        do {
            try body()
            if isStorageBlocked, !isWaitingForStorage, isOnline {
                isStorageBlocked = false
                storageBackoff.reset()
                emit(StorageAvailable())
            }
        } catch let error as StoreError where error.isMachineError {
            waitForStorage(error)
        } catch let error as FenceError {
            context.fail(error)
        } catch let error as StoreError where [.corrupt, .notOurs, .newerVersion].contains(error.code) {
            // No stanza is to blame, and nothing can be stored: end, acknowledge nothing.
            context.fail(error)
        } catch let error as NegotiationError {
            refuseOrDisconnect(error)
        } catch let error as XMLError {
            let condition = StreamError.Condition(rawValue: error.condition) ?? .undefinedCondition
            connection?.send(StreamError(condition, text: error.text).bytes())
            disconnect("the server's XML is not usable: \(error)")
        } catch let error as StreamManagementError {
            connection?.send(error.bytes)
            disconnect("\(error)")
        } catch let error as StreamFailure {
            if case .stream(let error) = error { blame(error) }
            disconnect("\(error)")
        } catch {
            // The stanza was not acknowledged: the server sends it again, and then each attempt is counted.
            isCareful = true
            disconnect("\(error)")
        }
    }

    /// The database cannot be written: stop reading, acknowledge nothing, go on from here later.
    private func waitForStorage(_ error: StoreError) {
        if case .negotiating = stage { return disconnect("\(error)") }
        if attemptBegun != nil, Attempts(runner: context.runner, account: account).takeBack() { attemptBegun = nil }
        connection?.isReading = false
        isStorageBlocked = true
        if error.code == .busy { context.blocked() }
        let delay = storageBackoff.next(random: context.random())
        emit(WaitingForStorage(reason: error.description, retryIn: delay))
        storageRetry?.cancel()
        storageRetry = context.loop.schedule(after: delay) { [weak self] in
            self?.storageRetry = nil
            self?.connection?.isReading = true
            self?.drain()
        }
    }

    private func refuseOrDisconnect(_ error: NegotiationError) {
        // Counted twice, here and by disconnecting: after this it is not tried again.
        if case .stream = error, isResumePending { unansweredResumes += 1 }
        guard error.isRefusal || error.needsPassword else { return disconnect(error.description) }
        end()
        stage = .refused(error)
        emit(Refused(reason: error.description))
        leave(without: error.description)
        context.mayHaveEnded()
    }

    /// Ends the connection, keeps the session, and tries again later.
    func disconnect(_ reason: String) {
        if case .stopped = stage { return }
        if isResumePending { unansweredResumes += 1 }
        if timers.wasStable { backoff.reset() }
        end()
        stage = .offline
        guard leaving == nil else { return leave(without: reason) }
        let delay = backoff.next(random: context.random())
        emit(Offline(reason: reason, retryIn: delay))
        retry = context.loop.schedule(after: delay) { [weak self] in self?.connect() }
        // A deadline that passed during the negotiation waited for its outcome.
        watchWaiting()
    }

    private var isResumePending: Bool {
        if case .negotiating(let negotiation) = stage { negotiation.isResumePending } else { false }
    }

    private func end() {
        timers.cancel()
        storageRetry?.cancel()
        storageRetry = nil
        connection?.close(nil)
        connection = nil
        inbox.clear()
        writer = OutboundWriter()
        requestsToAnswer = 0
        attemptBegun = nil
        alone = 0
        isDrainPlanned = false
        gathering?.cancel()
        gathering = nil
        expiry = .none
    }

    // MARK: From outside

    /// The network has changed: connect at once, or find out whether the connection still lives.
    func networkChanged() {
        switch stage {
        case .offline:
            backoff.reset()
            connect()
        case .online(.some) where writer.isRequested: awaitAcknowledgement(context.timing.networkCheck)
        case .online(.some): requestAcknowledgement(within: context.timing.networkCheck)
        default: break
        }
    }

    /// Somebody has committed something to be sent.
    func queueChanged() {
        writer.mayHaveMore = true
        guard !isWaitingForStorage else { return }
        watchWaiting()
        doWhatIsDue()
    }

    /// Lets everything go in order, so that the next process need not be careful: what is queued is written, what is
    /// handled is acknowledged, and the connection closed without ending the session. `finished` is called from the loop
    /// when all of it has left, or a second later.
    func letGo(_ finished: @escaping () -> Void) {
        retry?.cancel()
        drainPlanned()
        if case .online(let management) = stage, !isWaitingForStorage {
            connection?.isReading = false
            try? flush()
            if management != nil {
                requestsToAnswer = max(1, requestsToAnswer)
                try? acknowledge()
            } else {
                connection?.send(StreamManagement.end)
            }
        }
        stop(finished)
    }

    /// What RFC 6121 4.5.1 wants before a stream ends.
    private static let unavailable = Array("<presence type='unavailable'/>".utf8)

    /// Ends the stream and with it the session: the server closes it for good.
    func endStream(_ finished: @escaping () -> Void) {
        retry?.cancel()
        drainPlanned()
        if case .online(let management) = stage, !isWaitingForStorage {
            connection?.isReading = false
            if management != nil {
                requestsToAnswer = max(1, requestsToAnswer)
                try? acknowledge()
            }
            connection?.send(Self.unavailable)
        }
        connection?.send(StreamManagement.end)
        stop(finished)
    }

    private func stop(_ finished: @escaping () -> Void) {
        let connection = connection
        self.connection = nil
        end()
        deadlines.cancel()
        dueTimers.cancel()
        stage = .stopped
        if let connection { connection.close(finished) } else { context.loop.enqueue(finished) }
    }

    func emit(_ content: any EventContent) { context.emit(content, for: account, at: context.runner.now) }
}

/// What ended a connection, and is no fault of the negotiation.
enum StreamFailure: Error, CustomStringConvertible {
    case beforeSession(String)
    case closed
    case stream(StreamError)

    var description: String {
        switch self {
        case .beforeSession(let what): "the server sent \(what) before there was a session"
        case .closed: "the server closed the stream"
        case .stream(let error): "the server ended the stream: \(error)"
        }
    }
}
