import KalijCoordination
import KalijCore
import KalijStore
import KalijStream
import KalijTransport

/// Keeps one account online: connects, runs a step for each arriving stanza, writes the queue.
///
/// The decisions are made by values that take events and return actions (``ReconnectPolicy``, ``StorageBackoff``,
/// ``SessionEstablishment``, ``PoisonStanzaGuard``, ``ErrorDisposition``; ``AckPolicy`` and ``Batch`` in a session); the driver
/// performs the actions. The driver holds no state that another process would need: such state is in the database, so nothing is
/// lost if the process dies.
package final class AccountDriver {
    package let account: Account
    package let context: DriverContext
    package let steps: SessionSteps
    package let alarms: DriverTimers
    package private(set) var stage = Stage.offline
    package private(set) var line: ClientStream?
    package var reconnecting: ReconnectPolicy
    package private(set) var storage: StorageBackoff
    package var redelivery: PoisonStanzaGuard
    /// The logout in progress.
    package var logout: Logout?
    private let approaching: ConnectionPlanner
    package private(set) lazy var due = ScheduledWork(self)

    package enum Stage {
        case offline
        case negotiating(SessionEstablishment)
        case online(OnlineSession)
        /// The server refuses the login.
        case refused(NegotiationError)
        /// The driver was shut down.
        case stopped

        package var session: OnlineSession? { if case .online(let session) = self { session } else { nil } }
        /// Why the server refuses the login; nil if it does not.
        package var refusal: String? { if case .refused(let error) = self { error.description } else { nil } }
        package var isStopped: Bool { if case .stopped = self { true } else { false } }
    }

    /// - Parameter careful: whether the previous process may have ended while it handled a stanza.
    package init(_ account: Account, context: DriverContext, careful: Bool) {
        self.account = account
        self.context = context
        steps = SessionSteps(runner: context.runner, account: account)
        approaching = ConnectionPlanner(LoginSteps(runner: context.runner, account: account))
        alarms = DriverTimers(on: context.loop)
        let failed = FailedResults(database: context.runner.database, account: account.id)
        redelivery = PoisonStanzaGuard(isCareful: careful, failedResults: (try? failed.all()) ?? [:])
        reconnecting = ReconnectPolicy(longest: context.timing.longestRetry)
        storage = StorageBackoff(longest: context.timing.longestStorageRetry)
    }

    /// Whether there is a session and the server has responded to every request for an acknowledgement.
    package var isSettled: Bool {
        stage.session.map { !$0.acknowledging.writer.isRequested && !redelivery.isCareful } ?? false
    }

    // MARK: Connecting

    /// Connects, unless a connection is established or being established.
    package func connect() {
        guard case .offline = stage else { return }
        alarms.cancel(.reconnect)
        let logins = try? steps.logins()
        let credentials = logins.map { reconnecting.choice.credentials($0) } ?? account.credentials
        // A login with a token would not determine which of two passwords is valid.
        let approach = approaching.begin(withTokens: logins?.new == nil)
        stage = .negotiating(SessionEstablishment(steps, withNewPassword: reconnecting.choice.isNew))
        context.emit(Connecting(), for: account)
        guard case .negotiating = stage else { return }
        let configuration = Negotiation.Configuration(account, credentials, approach, now: context.runner.now)
        let line = ClientStream(configuration, on: context.loop, page: context.timing.page, link: approach.link)
        line.onEvent = { [weak self] in self?.handle($0) }
        self.line = line
        let seconds = context.timing.negotiation
        alarms.set(.negotiation, after: seconds) { [weak self] in
            self?.disconnect(Reason(.loginTooSlow, "\(Int(seconds))"), blamesLetter: false)
        }
        let (target, tls) = account.destination(approach)
        line.open { context.connect(target, tls, $0) }
    }

    private func handle(_ event: ClientStream.Event) {
        defer { expectBytes() }
        switch event {
        case .connected(let endpoint, let tls): attempt { try negotiate(try approaching.connected(endpoint, tls)) }
        case .secured(let tls): attempt { try negotiate(try approaching.secured(tls)) }
        case .ticket(let ticket): approaching.keep(ticket)
        case .arrived: arrived()
        case .drained where storage.isWaiting: break
        case .drained:
            // The outstanding acknowledgements are sent first: the queue may fill the connection again.
            attempt {
                try stage.session?.acknowledge()
                try stage.session?.flush()
            }
        case .failed(let failure):
            approaching.failed(failure)
            disconnect(Reason(failure))
        case .closed(let error):
            disconnect(Reason(.connectionLost, error?.description ?? "the server closed the connection"))
        }
    }

    /// Reports silence to the negotiation. Received bytes restart the timeout: over a slow link a response may take long.
    private func expectBytes() {
        guard case .negotiating = stage, let seconds = line.flatMap(approaching.timeout) else { return }
        alarms.set(.silence, after: seconds) { [weak self] in
            self?.attempt { try self?.negotiate(.silent) }
            self?.expectBytes()
        }
    }

    private func negotiate(_ event: Negotiation.Event) throws {
        guard case .negotiating = stage else { return }
        try line?.negotiate(event) { action in
            guard case .negotiating(var opening) = stage else { return }
            if case .learned(let server) = action { return try approaching.learned(server) }
            let answers = try opening.handle(action, &reconnecting, isLeaving: logout != nil)
            stage = .negotiating(opening)
            for answer in answers {
                // The event handler may have stopped the engine.
                guard case .negotiating = stage else { return }
                switch answer {
                case .negotiate(let event): try negotiate(event)
                case .commit(let effects): release(effects)
                case .online(let management, let jid, let isResumed): begin(management, jid, isResumed: isResumed)
                case .reconnect: reconnect()
                case .abandonLogout: logout?.finish()
                case .fail(let error): throw error
                }
            }
        }
    }

    /// Starts the session on the current connection.
    package func begin(_ management: StreamManagement?, _ jid: String, isResumed: Bool) {
        guard let line else { return }
        if !isResumed { redelivery.passed() }
        let isDoubtful = isResumed && (try? steps.load().unread.isDoubtful) ?? false
        let session = OnlineSession(self, line, management)
        session.acknowledging.writer.isDoubtful = isDoubtful
        stage = .online(session)
        line.isInSession = true
        reconnecting.established()
        alarms.cancel(.negotiation)
        alarms.cancel(.silence)
        approaching.record(line)
        alarms.set(.stable, after: context.timing.stable) { [weak self] in self?.reconnecting.lasted() }
        session.awaitPause()
        session.keepAlive()
        // The server may have stored that the client was inactive on the former stream (XEP-0352).
        if isResumed { session.sendClientState(isWatched: true) }
        due.watch()
        context.emit(Online(jid: jid, resumed: isResumed), for: account)
        guard stage.session === session else { return }
        due.services.sessionDidBegin(isResumed: isResumed)
        guard isResumed else { return }
        // The `<a/>` follows the redelivered stanzas, and so marks their end. Before a logout it marks the end of everything that
        // the server had to send.
        if redelivery.isCareful || logout != nil || isDoubtful { session.request() }
        context.mayHaveEnded()
    }

    // MARK: Working

    /// Handles the inbox, up to the first event that cannot be handled now.
    private func arrived() {
        stage.session?.acknowledging.received()
        line.map { context.runner.links[account.id, default: LinkQuality()].update($0.meter.measure) }
        attempt {
            while !storage.isWaiting, let line, let event = line.inbox.first {
                switch stage {
                case .negotiating:
                    // An answer may complete a request to resume that left before another process took over.
                    try context.runner.checkFence()
                    try negotiate(Negotiation.Event(event))
                    line.inbox.removeFirst()
                case .online(let session): try session.handleNext(event)
                case .offline, .refused, .stopped: line.inbox.removeFirst()
                }
            }
            guard !storage.isWaiting, let line else { return }
            if let error = line.inbox.error { throw error }
            // Before any wait for fsync: a notification is due once the step is committed, and makes no claim to the server. If a
            // power failure undoes the commit, the stanza was not acknowledged: it is redelivered, and its notification is shown
            // again.
            context.services.inboxDidEmpty()
            // In this order one barrier serves both calls.
            try stage.session?.flush()
            try stage.session?.acknowledge()
        }
    }

    /// Publishes the effects of a committed step.
    package func release(_ effects: Step.Effects) {
        context.emit(effects.events)
        context.services.stepDidCommit(effects)
        if effects.queued { stage.session?.queueChanged() }
        due.plan(effects)
        context.settled(effects.settled)
        logout?.stepped()
        // In the loop's next turn, so that the current work is finished first.
        if effects.handled { context.loop.enqueue { [weak self] in self?.context.mayHaveEnded() } }
    }

    // MARK: Failing

    /// Runs `body`. An error determines whether the connection ends, the process waits, or the account stops.
    package func attempt(_ body: () throws -> Void) {
        do {
            try body()
            if stage.session != nil, storage.worked() { context.emit(StorageAvailable(), for: account) }
        } catch { failed(ErrorDisposition(of: error)) }
    }

    private func failed(_ consequence: ErrorDisposition) {
        switch consequence {
        case .wait(let error): waitForStorage(error)
        case .stop(let error): context.fail(error)
        case .negotiation(let error): negotiationFailed(error)
        case .disconnect(let reason, let telling):
            line?.send(telling)
            // A network's sign-in page has not processed any pipelined element.
            disconnect(reason, blamesLetter: !(line?.inbox.error is StreamFailure))
        case .blame(let error):
            stage.session?.blame(error)
            if error.condition == .conflict { reconnecting.sessionReplaced(random: context.random()) }
            disconnect(StreamFailure.stream(error).reason)
        case .careful(let reason):
            redelivery.failed()
            reconnecting.stanzaFailed()
            disconnect(reason)
        }
    }

    /// Stops reading, acknowledges nothing, and resumes from here later.
    private func waitForStorage(_ error: StoreError) {
        if case .negotiating = stage { return disconnect(Reason(other: "\(error)"), blamesLetter: false) }
        if redelivery.isTrying, Attempts(runner: context.runner, account: account).revertLast() {
            redelivery.attemptEnded()
        }
        line?.isReading = false
        let delay = storage.failed(random: context.random())
        if error.code == .busy { context.blocked() }
        context.emit(WaitingForStorage(error, retryIn: delay), for: account)
        alarms.set(.storage, after: delay) { [weak self] in
            guard let self else { return }
            storage.resume()
            line?.isReading = stage.session?.acknowledging.writer.answers.mayRead ?? true
            line?.deliver()
            if stage.refusal != nil { attempt { try steps.loginRefused() } }
            context.storageResumed()
            context.mayHaveEnded()
        }
    }

    private func negotiationFailed(_ error: NegotiationError) {
        if case .stream = error, let negotiation = line?.negotiation, negotiation.isResumePending,
            negotiation.suspect == nil
        {
            reconnecting.resumeCut()
        }
        // A refusal of a pipelined login is not final: the login is repeated step by step.
        guard error.isRefusal || error.needsPassword, line?.negotiation.suspect == nil else {
            return disconnect(Reason(error))
        }
        // Tries the other of two passwords on a new connection.
        if let logins = try? steps.logins(), reconnecting.choice.refused(logins) { return reconnect() }
        attempt { try steps.loginRefused() }
        end()
        stage = .refused(error)
        context.emit(Refused(reason: Reason(.loginRefused, error.description)), for: account)
        logout?.finish(without: error.description)
        context.mayHaveEnded()
    }

    /// Ends the connection, keeps the session, and schedules the next attempt.
    /// - Parameter blamesLetter: whether the server may have ended the login because of a pipelined element.
    package func disconnect(_ reason: Reason, blamesLetter: Bool = true) {
        if stage.isStopped { return }
        if case .negotiating = stage, blamesLetter, let line, approaching.disableEarlyStep(of: line),
            reconnecting.letterFailed()
        {
            return reconnect()
        }
        if stage.session != nil { line.map(approaching.record) }
        reconnecting.ended(isResumePending: line?.negotiation.isResumePending ?? false)
        end()
        stage = .offline
        if let logout { return logout.finish(without: reason.description) }
        let delay = reconnecting.delay(random: context.random())
        context.emit(Offline(reason: reason, retryIn: delay), for: account)
        alarms.set(.reconnect, after: delay) { [weak self] in self?.connect() }
        // A deadline that passed during the negotiation was postponed to its end.
        due.watch()
    }

    /// Connects at once.
    private func reconnect() {
        end()
        stage = .offline
        context.loop.enqueue { [weak self] in self?.connect() }
    }

    private func end() {
        alarms.connectionEnded()
        line?.close()
        line = nil
        storage.resume()
        redelivery.attemptEnded()
        due.connectionEnded()
    }

    // MARK: From outside

    /// The network has changed: connects at once, or checks whether the connection is still alive.
    /// - Parameter isGuess: whether the change is only presumed, because of a push or another process. A push gives no evidence
    ///   about a connection that is being established.
    package func networkChanged(isGuess: Bool = false) {
        switch stage {
        case .offline:
            reconnecting.networkChanged()
            connect()
        case .online(let session): session.networkChanged()
        case .negotiating where !isGuess:
            approaching.networkChanged()
            expectBytes()
        case .negotiating, .refused, .stopped: break
        }
    }

    /// Another component or process has committed something to send.
    package func queueChanged() {
        stage.session?.queueChanged()
        guard !storage.isWaiting else { return }
        due.watch()
        due.doAll()
        // After the check for due work: an empty check is a commit, too, and one barrier serves both commits.
        if !storage.isWaiting { attempt { try stage.session?.flush() } }
    }

    /// Pauses the handling of stanzas, or resumes it.
    package func pause(_ isPaused: Bool) {
        guard !storage.isWaiting else { return }
        line?.isReading = !isPaused && stage.session?.acknowledging.writer.answers.mayRead ?? true
    }

    /// Shuts down in an orderly manner, so that the next process need not be careful: writes the queue, acknowledges the handled
    /// stanzas, and closes the connection.
    /// - Parameters:
    ///   - seconds: how long the server may take to respond to the end of the session; nil keeps the session.
    ///   - finished: called on the loop when all bytes are sent, or a second later. Its argument is whether the server left the
    ///     end of the session unanswered.
    package func shutDown(
        endingSessionWithin seconds: Double? = nil, _ finished: @escaping (_ isUnanswered: Bool) -> Void
    ) {
        alarms.cancel(.reconnect)
        line?.deliverPlanned()
        let wait = seconds.map { stage.session == nil ? 0 : $0 }
        if !storage.isWaiting { stage.session?.shutDown(endingSession: seconds != nil) }
        let line = line
        self.line = nil
        end()
        due.cancel()
        stage = .stopped
        guard let line else { return context.loop.enqueue { finished(false) } }
        line.close(endingStreamWithin: wait) { finished((wait ?? 0) > 0 && !$0) }
    }

    /// Ends the account's session, invalidates all pending requests and timers, and deletes the credentials.
    /// - Parameters:
    ///   - seconds: how long to attempt to reach the server, if there is a session without a connection. After that time the
    ///     session is left to expire at the server.
    ///   - finished: called on the loop at the end, with the problem with the server, if there was one.
    package func logOut(removing: Bool, within seconds: Double, _ finished: @escaping (String?) -> Void) {
        guard logout == nil else { return }
        let logout = Logout(self, removing: removing, finished)
        self.logout = logout
        attempt {
            do { try logout.begin(within: seconds) } catch {
                self.logout = nil
                throw error
            }
        }
    }
}
