extension PushCore {
    /// Counts an attempt and sends; for a queued push, the attempt is in its row before the push leaves.
    mutating func send(_ id: UInt64, fresh: Bool = false) -> [CoreAction] {
        guard var flight = flights[id] else { return [] }
        flight.attempts += 1
        flights[id] = flight
        modules[flight.module]?.health.sends(now: now)
        let isBackground = !flight.isImportant && modules[flight.module]?.settings.backgroundForUnimportant == true
        let delivery = Delivery(
            id: id, module: flight.module, token: flight.token, isBackground: isBackground,
            needsFreshCredentials: fresh)
        return (flight.isKept ? [.keep(row(id, flight, due: now))] : []) + [.send(delivery)]
    }

    /// Takes the result of a ``Delivery``. An unknown id is ignored.
    public mutating func deliver(_ verdict: Verdict, of id: UInt64, now time: Milliseconds) -> [CoreAction] {
        advance(time)
        guard let flight = flights[id] else { return [] }
        return reach(flight.module, verdict) + act(on: verdict, id, flight)
    }

    /// An alarm when a provider goes out of reach or comes back.
    private mutating func reach(_ module: String, _ verdict: Verdict) -> [CoreAction] {
        let text = "the provider is out of reach"
        if case .transient(let words) = verdict {
            let isNews = modules[module]?.health.cameToNothing(words, now: now) ?? false
            return isNews ? [.alarm(module: module, "\(text): \(words)", isOver: false)] : []
        }
        let isBack = modules[module]?.health.answered() ?? false
        return isBack ? [.alarm(module: module, "the provider answers again", isOver: true)] : []
    }

    private mutating func act(on verdict: Verdict, _ id: UInt64, _ flight: Flight) -> [CoreAction] {
        switch verdict {
        case .delivered: return delivered(id, flight)
        case .dead:
            count(flight.module, \.dead)
            return condemn(id, flight, .dead)
        case .bad: return bad(id, flight)
        case .staleCredentials: return stale(id, flight)
        case .fault(let words): return fault(id, flight, words)
        case .tooMany(let scope, let retryAfter): return tooMany(id, flight, scope, retryAfter)
        case .transient: return transient(id, flight)
        }
    }

    private mutating func delivered(_ id: UInt64, _ flight: Flight) -> [CoreAction] {
        count(flight.module, \.delivered)
        let isNews = known.succeeded(flight.key, now: now)
        var actions: [CoreAction] = isNews ? [.know(flight.key, at: now)] : []
        if let health = modules[flight.module]?.health.succeeded(now: now) {
            if health.isRecovery {
                actions.append(.alarm(module: flight.module, "pushes are taken again", isOver: true))
            }
            if health.isToBeKept, let identity = modules[flight.module]?.identity {
                actions.append(.success(ModuleSuccess(module: flight.module, identity: identity, at: now)))
            }
        }
        return actions + end(id, flight, .done)
    }

    /// Blocks a token that is proven dead, and counts the mistake against its domain.
    private mutating func condemn(_ id: UInt64, _ flight: Flight, _ reason: BlockReason) -> [CoreAction] {
        var actions: [CoreAction] = []
        if let blocking = modules[flight.module]?.settings.blocking {
            let (time, again) =
                reason == .dead ? (blocking.dead, blocking.deadAgain) : (blocking.bad, blocking.badAgain)
            let change = blocklist.block(flight.key, reason: reason, for: time, again: again, now: now)
            if let change { actions.append(.block(change)) }
        }
        noteNewTokenFailure(flight)
        if let domain = flight.domain, domains.dead(domain, now: now) { actions += blockDomain(domain) }
        return actions + end(id, flight, .dead)
    }

    private mutating func bad(_ id: UInt64, _ flight: Flight) -> [CoreAction] {
        count(flight.module, \.bad)
        let isProof = modules[flight.module]?.health.provesTokens(now: now) ?? false
        let doubted = modules[flight.module]?.health.tokenFailed(flight.key, now: now)
        guard isProof, doubted == nil else {
            // No proof of anything, so not counted against the domain either.
            count(flight.module, \.doubted)
            return (doubted.map { doubt(flight.module, $0) } ?? []) + fail(id, flight, .unavailable)
        }
        return condemn(id, flight, .bad)
    }

    /// The breaker opens. Tokens blocked on the way there may be as good as any other token.
    private mutating func doubt(_ module: String, _ tokens: Set<HashedKey>) -> [CoreAction] {
        let text = "many tokens fail and none succeeds: check environment and topic"
        let unblocked = tokens.filter { blocklist.reason($0, now: now) == .bad }
            .compactMap { blocklist.unblock($0, now: now) }
        return [.alarm(module: module, text, isOver: false)] + unblocked.map { .block($0) }
    }

    private mutating func noteNewTokenFailure(_ flight: Flight) {
        if let domain = flight.domain, isNew(flight) { domains.newTokenFailed(domain, now: now) }
    }

    private mutating func stale(_ id: UInt64, _ flight: Flight) -> [CoreAction] {
        guard !flight.isRenewed, now < flight.deadline, mayTryAgain(flight) else {
            return fault(id, flight, "the provider does not take our fresh credentials")
        }
        flights[id]?.isRenewed = true
        count(flight.module, \.retried)
        return send(id, fresh: true)
    }

    private mutating func fault(_ id: UInt64, _ flight: Flight, _ words: String) -> [CoreAction] {
        count(flight.module, \.fault)
        let isNews = modules[flight.module]?.health.fault(words, now: now) ?? false
        return (isNews ? [.alarm(module: flight.module, words, isOver: false)] : []) + fail(id, flight, .fault)
    }

    private mutating func tooMany(
        _ id: UInt64, _ flight: Flight, _ scope: Verdict.Scope, _ retryAfter: Milliseconds?
    ) -> [CoreAction] {
        count(flight.module, \.tooMany)
        let rest = max(1_000, retryAfter ?? modules[flight.module]?.settings.rate.hold ?? 600_000)
        if scope == .module { modules[flight.module]?.health.hold(until: now + rest) }
        flights[id] = nil
        guard flight.isKept else { return hold(flight, until: now + rest) }
        return mayTryAgain(flight) ? requeue(id, flight, until: now + rest) : lose(id, flight)
    }

    private mutating func transient(_ id: UInt64, _ flight: Flight) -> [CoreAction] {
        count(flight.module, \.transient)
        let bound = 250.0 * Double(1 << min(flight.attempts, 5))
        let wait = Milliseconds(bound * Double.random(in: 0.5..<1, using: &random))
        // A push that can no longer be answered in time is not worth a try.
        guard now + wait + 500 < flight.deadline, mayTryAgain(flight) else { return fail(id, flight, .unavailable) }
        count(flight.module, \.retried)
        retries.add(id, at: now + wait)
        return []
    }

    private func mayTryAgain(_ flight: Flight) -> Bool { flight.attempts < (flight.isKept ? 2 : 5) }

    /// Nothing was sent: the next publish for the token is to be tried at once, unless a waiting push covers that
    /// publish.
    private mutating func fail(_ id: UInt64, _ flight: Flight, _ answer: Answer) -> [CoreAction] {
        if waiting[flight.key] == nil { modules[flight.module]?.limiter.forget(flight.key, now: now) }
        if flight.isKept { count(flight.module, \.dropped) }
        return end(id, flight, answer)
    }

    private mutating func lose(_ id: UInt64, _ flight: Flight) -> [CoreAction] {
        count(flight.module, \.dropped)
        return end(id, flight, .unavailable)
    }

    private mutating func end(_ id: UInt64, _ flight: Flight, _ answer: Answer) -> [CoreAction] {
        flights[id] = nil
        return (flight.isKept ? [.drop(id)] : []) + self.answer(flight, answer)
    }

    /// The attempt of a queued push could not be counted in its row, so the push was not sent: tried again a moment
    /// later.
    public mutating func postpone(_ id: UInt64, now time: Milliseconds) -> [CoreAction] {
        advance(time)
        guard var flight = flights[id] else { return [] }
        flight.attempts -= 1
        guard isWorthWaiting(flight) else { return lose(id, flight) }
        return requeue(id, flight, until: now + 1_000)
    }

    /// Ten minutes of failing are enough; the next message will wake the device.
    func isWorthWaiting(_ flight: Flight) -> Bool { now - flight.since < 600_000 }

    /// A queued push goes back into the queue.
    mutating func requeue(_ id: UInt64, _ flight: Flight, until: Milliseconds) -> [CoreAction] {
        // A younger push may wait meanwhile, and covers this push.
        if waiting[flight.key] != nil {
            flights[id] = nil
            return [.drop(id)]
        }
        modules[flight.module]?.limiter.wait(flight.key, important: flight.isImportant, until: until, now: now)
        flights[id] = nil
        var flight = flight
        flight.deadline = until
        queued[id] = flight
        waiting[flight.key] = id
        dues.add(id, at: until)
        return [.keep(row(id, flight, due: until))]
    }
}
