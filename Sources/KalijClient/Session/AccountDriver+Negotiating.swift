import KalijAddress
import KalijStream
import KalijTransport

/// From a connection to a session.
extension AccountDriver {
    /// Gives the negotiation an event and does what it asks for.
    func negotiate(_ event: Negotiation.Event) throws {
        guard case .negotiating(var negotiation) = stage else { return }
        let actions = try negotiation.handle(event)
        stage = .negotiating(negotiation)
        for action in actions { try perform(action) }
    }

    private func perform(_ action: Negotiation.Action) throws {
        switch action {
        case .send(let bytes): connection?.send(bytes)
        case .startTLS: connection?.startTLS()
        case .restartParser: restartStream()
        case .authenticated: break  // the keys are those of the login, or the server would have refused them
        case .choose(let features): try choose(features)
        case .resumed(let count): try resumed(count)
        case .resumeFailed(let count, _):
            commit(try steps.resumeFailed(count))
            guard leaving == nil else { return leave() }
            try negotiate(.bind(resource: account.resource))
        case .bound(let jid): try bound(jid)
        case .stanza(let stanza): commit(try steps.handle(stanza, count: nil))
        case .enabled(let id, _, _): try online(StreamManagement(), resumeID: id)
        case .enableFailed: break
        case .established: if case .negotiating = stage { try online(nil, resumeID: nil) }
        }
    }

    /// Resumes if there is something to resume; else binds. A session whose resumption was left unanswered twice counts
    /// as lost: some servers close the connection instead of refusing.
    private func choose(_ features: StreamFeatures) throws {
        // A process that was frozen meanwhile would take the session from the one that drives now.
        try context.runner.checkFence()
        managesStream = features.offersStreamManagement
        try steps.note(largestStanza: features.largestStanza)
        let session = try steps.load()
        // Only what can be resumed is there to be ended.
        if leaving != nil, !features.offersStreamManagement || unansweredResumes >= 2 { return leave() }
        guard let id = session.resumeID, features.offersStreamManagement else {
            return try negotiate(.bind(resource: account.resource))
        }
        guard unansweredResumes < 2 else {
            unansweredResumes = 0
            commit(try steps.resumeFailed(nil))
            return try negotiate(.bind(resource: account.resource))
        }
        try context.runner.raiseBarrier()
        try negotiate(.resume(id: id, handled: session.handled))
    }

    private func resumed(_ count: HandledCount) throws {
        do {
            commit(try steps.resumed(count))
        } catch let error as SessionError {
            // It resumed a session that is not ours: give it up, so that the next connection binds anew.
            commit(try steps.resumeFailed(nil))
            throw error
        }
        // An application that was told of it may have stopped the engine.
        guard case .negotiating = stage else { return }
        let session = try steps.load()
        begin(StreamManagement(handled: session.handled, acknowledged: count))
        emit(Online(jid: session.jid ?? "", resumed: true))
        // The answer comes behind the redelivered stanzas, and so marks their end.
        if isCareful { requestAcknowledgement(within: context.timing.acknowledgement) }
        askBeforeLeaving()
        context.mayHaveEnded()
    }

    private func bound(_ jid: JID) throws {
        commit(try steps.bound(jid))
        if managesStream { try negotiate(.enableStreamManagement(resumable: true, maximum: nil)) }
    }

    private func online(_ management: StreamManagement?, resumeID: String?) throws {
        commit(try steps.established(resumeID: resumeID))
        isCareful = false
        begin(management)
        emit(Online(jid: try steps.load().jid ?? "", resumed: false))
        // A message that the server took in while it learned of our presence may be archived after the archive was read,
        // and delivered to nobody.
        readArchiveLater()
    }

    private func begin(_ management: StreamManagement?) {
        stage = .online(management)
        unansweredResumes = 0
        writer = OutboundWriter()
        timers.established(stableAfter: context.timing.stable, on: context.loop)
        keepAlive()
        watchWaiting()
    }
}
