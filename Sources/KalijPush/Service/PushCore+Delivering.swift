extension PushCore {
    /// Counts an attempt and sends; for a queued push, the attempt is in its row before the push leaves.
    mutating func send(_ id: UInt64, fresh: Bool = false) -> [CoreAction] {
        guard var flight = flights[id] else { return [] }
        flight.attempts += 1
        flights.update(id) { $0.attempts += 1 }
        modules[flight.module]?.health.sends(now: now)
        let isBackground = !flight.isImportant && modules[flight.module]?.settings.backgroundForUnimportant == true
        let delivery = Delivery(
            id: id, module: flight.module, token: flight.token, isBackground: isBackground,
            needsFreshCredentials: fresh)
        return (flight.isKept ? [.keep(flight.row(id, due: now))] : []) + [.send(delivery)]
    }

    /// Takes the result of a ``Delivery``. An unknown id is ignored.
    public mutating func deliver(_ verdict: Verdict, of id: UInt64, now time: Milliseconds) -> [CoreAction] {
        advance(time)
        guard let flight = flights[id] else { return [] }
        // The time of an answer, taken from first attempts for which a requester waits.
        if flight.attempts == 1, flight.requester != nil, !flight.isLateOfMany(now) {
            modules[flight.module]?.pace.add(now - flight.since)
        }
        return reach(flight.module, verdict) + act(on: verdict, id, flight)
    }

    /// Raises an alarm when a provider becomes unreachable, and ends it when the provider is reachable again.
    private mutating func reach(_ module: String, _ verdict: Verdict) -> [CoreAction] {
        // Services of strangers have their own health.
        if modules[module]?.settings.tokenFormat == .subscription { return [] }
        let text = "the provider is out of reach"
        if case .transient(let words) = verdict {
            let isNews = modules[module]?.health.reach.attemptFailed(words, now: now) ?? false
            return isNews ? [.alarm(module: module, "\(text): \(words)", isOver: false)] : []
        }
        let isBack = modules[module]?.health.reach.answered() ?? false
        return isBack ? [.alarm(module: module, "the provider answers again", isOver: true)] : []
    }

    private mutating func act(on verdict: Verdict, _ id: UInt64, _ flight: InFlightPush) -> [CoreAction] {
        switch verdict {
        case .delivered: return delivered(id, flight)
        case .dead:
            count(flight.module, \.dead)
            return recovered(flight.module) + question(flight, isTrue: true) + condemn(id, flight, .dead)
        case .bad: return bad(id, flight)
        case .staleCredentials: return stale(id, flight)
        case .fault(let words): return fault(id, flight, words)
        case .unaccepted:
            count(flight.module, \.fault)
            return fail(id, flight, .fault)
        case .tooMany(let scope, let retryAfter): return tooMany(id, flight, scope, retryAfter)
        case .transient: return transient(id, flight)
        }
    }

    private mutating func delivered(_ id: UInt64, _ flight: InFlightPush) -> [CoreAction] {
        count(flight.module, \.delivered)
        var actions = judged(flight, dead: false) + question(flight, isTrue: false)
        if known.succeeded(flight.key, now: now) { actions.append(.know(flight.key, at: now)) }
        let witness = witness(flight)
        if let health = modules[flight.module]?.health.succeeded(witness, now: now) {
            if health.isRecovery {
                actions.append(.alarm(module: flight.module, "pushes are taken again", isOver: true))
            }
            if health.isToBeKept, let identity = modules[flight.module]?.identity {
                actions.append(.success(ModuleSuccess(module: flight.module, identity: identity, at: now)))
            }
        }
        return actions + end(id, flight, .done)
    }

    /// Another node's claim about the token was confirmed, or refuted.
    private mutating func question(_ flight: InFlightPush, isTrue: Bool) -> [CoreAction] {
        guard flight.hearsay != nil, var sharing else { return [] }
        self.sharing = nil
        defer { self.sharing = sharing }
        let keys = keyring.keys(of: flight)
        if isTrue { return sharing.answered(flight, isStrike: false, &blocks, now: now) }
        let success = keys.compactMap { known.lastSuccess($0, now: now) }.max()
        return sharing.refute(flight, keys, lastSuccess: success, &blocks, now: now)
    }

    /// Blocks a token that is proven dead, and counts the mistake against its domain.
    private mutating func condemn(_ id: UInt64, _ flight: InFlightPush, _ reason: BlockReason) -> [CoreAction] {
        let times = modules[flight.module]?.settings.blocking ?? BlockingSettings()
        return blocks.condemn(flight.key, reason, times, now: now) + judged(flight, dead: true) + end(id, flight, .dead)
    }

    /// The provider has judged a push of a domain.
    private mutating func judged(_ flight: InFlightPush, dead: Bool) -> [CoreAction] {
        guard let domain = flight.domain, domains.judged(domain, dead: dead, isNew: isNew(flight), now: now) else {
            return []
        }
        return blocks.block(domain: domain, for: settings.limits.domainBlock, now: now)
    }

    private func witness(_ flight: InFlightPush) -> TokenSample {
        TokenSample(key: flight.key, owner: flight.owner, isKnown: !isNew(flight))
    }

    private mutating func recovered(_ module: String) -> [CoreAction] {
        guard modules[module]?.health.judged() == true else { return [] }
        return [.alarm(module: module, "pushes are taken again", isOver: true)]
    }

    private mutating func bad(_ id: UInt64, _ flight: InFlightPush) -> [CoreAction] {
        count(flight.module, \.bad)
        var actions = recovered(flight.module)
        let witness = witness(flight)
        switch modules[flight.module]?.health.refused(witness, now: now) ?? .doubted(isNews: false) {
        case .proven: return actions + condemn(id, flight, .bad)
        case .opens(let tokens): actions += doubt(flight.module, tokens)
        case .doubted(let isNews):
            let text = "no push was taken in the last day, and many tokens are refused: check environment and topic"
            if isNews { actions.append(.alarm(module: flight.module, text, isOver: false)) }
        }
        // No proof of anything, so not counted against the domain either.
        count(flight.module, \.doubted)
        return actions + fail(id, flight, .unavailable)
    }

    /// The breaker opens. Tokens that were blocked before it did may be as good as any other token.
    private mutating func doubt(_ module: String, _ tokens: Set<HashedKey>) -> [CoreAction] {
        let text = "many tokens fail and none succeeds: check environment and topic"
        return [.alarm(module: module, text, isOver: false)] + blocks.pardon(tokens, now: now)
    }

    private mutating func stale(_ id: UInt64, _ flight: InFlightPush) -> [CoreAction] {
        guard !flight.isRenewed, now < flight.deadline, flight.mayRetry else {
            return fault(id, flight, "the provider does not take our fresh credentials")
        }
        flights.update(id) { $0.isRenewed = true }
        count(flight.module, \.retried)
        return send(id, fresh: true)
    }

    private mutating func fault(_ id: UInt64, _ flight: InFlightPush, _ words: String) -> [CoreAction] {
        count(flight.module, \.fault)
        var actions: [CoreAction] = []
        let witness = witness(flight)
        switch modules[flight.module]?.health.blamed(words, by: witness, now: now) {
        case .fault(isNews: true): actions = [.alarm(module: flight.module, words, isOver: false)]
        case .odd(isNews: true): actions = [.notice(module: flight.module, "an odd answer: \(words)")]
        default: break
        }
        return actions + fail(id, flight, .fault)
    }

    private mutating func tooMany(
        _ id: UInt64, _ flight: InFlightPush, _ scope: Verdict.Scope, _ retryAfter: Milliseconds?
    ) -> [CoreAction] {
        count(flight.module, \.tooMany)
        let rest = max(1_000, retryAfter ?? modules[flight.module]?.settings.rate.hold ?? 600_000)
        if scope == .module { modules[flight.module]?.health.hold(until: now + rest) }
        flights[id] = nil
        guard flight.isKept else { return hold(flight, until: now + rest) }
        return flight.mayRetry ? requeue(id, flight, until: now + rest) : lose(id, flight)
    }

    private mutating func transient(_ id: UInt64, _ flight: InFlightPush) -> [CoreAction] {
        count(flight.module, \.transient)
        let bound = 250.0 * Double(1 << min(flight.attempts, 5))
        let wait = Milliseconds(bound * Double.random(in: 0.5..<1, using: &random))
        // A push that can no longer be answered in time is not worth a try.
        guard now + wait + 500 < flight.deadline, flight.mayRetry else { return fail(id, flight, .unavailable) }
        count(flight.module, \.retried)
        retries.add(id, at: now + wait)
        return []
    }

    /// Nothing was sent: the next publish for the token is to be tried at once, unless a waiting push covers that
    /// publish.
    private mutating func fail(_ id: UInt64, _ flight: InFlightPush, _ answer: Answer) -> [CoreAction] {
        if waiting[flight.key] == nil { modules[flight.module]?.limiter.forget(flight.key, now: now) }
        if flight.isKept { count(flight.module, \.dropped) }
        return end(id, flight, answer)
    }

    private mutating func lose(_ id: UInt64, _ flight: InFlightPush) -> [CoreAction] {
        count(flight.module, \.dropped)
        return end(id, flight, .unavailable)
    }

    private mutating func end(_ id: UInt64, _ flight: InFlightPush, _ answer: Answer) -> [CoreAction] {
        flights[id] = nil
        return (flight.isKept ? [.drop(id)] : []) + flight.answer(answer)
    }

    /// The attempt of a queued push could not be recorded in its row, so the push was not sent: it is retried a moment later.
    public mutating func postpone(_ id: UInt64, now time: Milliseconds) -> [CoreAction] {
        advance(time)
        guard var flight = flights[id] else { return [] }
        flight.attempts -= 1
        guard flight.isWorthWaiting(now) else { return lose(id, flight) }
        return requeue(id, flight, until: now + 1_000)
    }

    /// Returns a queued push to the queue.
    mutating func requeue(_ id: UInt64, _ flight: InFlightPush, until: Milliseconds) -> [CoreAction] {
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
        if !isEnding { dues.add(id, at: until) }
        return [.keep(flight.row(id, due: until))]
    }
}
