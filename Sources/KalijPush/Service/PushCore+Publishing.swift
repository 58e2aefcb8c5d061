extension PushCore {
    /// A publish has come.
    public mutating func publish(_ publish: Publish, now time: Milliseconds) -> [CoreAction] {
        advance(time)
        counters.publishes += 1
        let domain = hasher.key(domain: publish.domain)
        if let refusal = admit(domain, publish.domain, publish.requester) { return refusal }
        guard let name = publish.module ?? settings.defaultModule, let module = modules[name],
            module.settings.tokenFormat.matches(publish.token)
        else { return mistake(of: domain, publish.requester) }
        let key = hasher.key(token: publish.token, module: name)
        if let refusal = blocked(key, publish, name) { return refusal }
        let flight = Flight(
            module: name, token: publish.token, key: key, domain: domain, requester: publish.requester,
            isImportant: publish.isImportant, deadline: now + settings.limits.answer, since: now)
        return take(flight)
    }

    /// A malformed publish has come.
    public mutating func malformed(_ requester: Requester, domain name: String, now time: Milliseconds) -> [CoreAction]
    {
        advance(time)
        counters.publishes += 1
        let domain = hasher.key(domain: name)
        return admit(domain, name, requester) ?? mistake(of: domain, requester)
    }

    /// Is the domain blocked? The answer if so, or if there are too many domains.
    private mutating func admit(_ domain: HashedKey, _ name: String, _ requester: Requester) -> [CoreAction]? {
        let before = previousHasher?.key(domain: name)
        if blocklist.reason(domain, now: now) != nil || before.map({ blocklist.reason($0, now: now) }) ?? nil != nil {
            counters.domainBlocked += 1
            return [.answer(requester, .refused)]
        }
        if !domains.admit(domain, now: now) {
            counters.overLimit += 1
            return [.answer(requester, .refused)]
        }
        return nil
    }

    private mutating func mistake(of domain: HashedKey, _ requester: Requester) -> [CoreAction] {
        counters.malformed += 1
        return countMistake(of: domain) + [.answer(requester, .refused)]
    }

    mutating func countMistake(of domain: HashedKey) -> [CoreAction] {
        domains.malformed(domain, now: now) ? blockDomain(domain) : []
    }

    mutating func blockDomain(_ domain: HashedKey) -> [CoreAction] {
        let time = settings.limits.domainBlock
        let change = blocklist.block(domain, reason: .mistakes, for: time, again: time, now: now)
        return change.map { [.block($0)] } ?? []
    }

    /// Is the token blocked? A hit extends the block.
    private mutating func blocked(_ key: HashedKey, _ publish: Publish, _ name: String) -> [CoreAction]? {
        var actions: [CoreAction] = []
        var reason = blocklist.reason(key, now: now)
        if reason == nil, let previousHasher {
            // Blocked under the former secret: moved to the new secret.
            let old = previousHasher.key(token: publish.token, module: name)
            if let found = blocklist.reason(old, now: now), let expiry = blocklist.expiry(old, now: now) {
                reason = found
                let change = blocklist.block(key, reason: found, for: expiry - now, again: 0, now: now)
                if let change { actions.append(.block(change)) }
            }
        }
        guard let reason, let module = modules[name] else { return nil }
        count(name, \.blocked)
        // The cause of the module's doubt may have made the token look bad, too.
        let isProven = reason == .dead || module.health.state == .healthy
        if isProven, let change = blocklist.hit(key, extension: module.settings.blocking.hit, now: now) {
            actions.append(.block(change))
        }
        return actions + [.answer(publish.requester, isProven ? .dead : .unavailable)]
    }

    /// Whether no push to the token has succeeded lately.
    func isNew(_ flight: Flight) -> Bool {
        if known.contains(flight.key, now: now) { return false }
        guard let before = previousHasher?.key(token: flight.token, module: flight.module) else { return true }
        return !known.contains(before, now: now)
    }

    /// Checks the module, the rate, the domain's new tokens; then sends.
    private mutating func take(_ flight: Flight) -> [CoreAction] {
        switch modules[flight.module]?.health.gate(now: now) ?? .shut {
        case .shut: return shut(flight)
        case .held(let until): return hold(flight, until: until)
        case .open: break
        }
        if isNew(flight), let domain = flight.domain, !domains.takesNewTokens(domain, now: now) {
            counters.refusedNewTokens += 1
            return refuse(flight)
        }
        // The limiter may be off, and yet the provider may want the token to rest.
        if waiting[flight.key] != nil, modules[flight.module]?.settings.rate.isEnabled == false { return cover(flight) }
        switch modules[flight.module]?.limiter.decide(flight.key, important: flight.isImportant, now: now) ?? .send {
        case .covered(let isUpgrade):
            count(flight.module, \.covered)
            return (isUpgrade ? upgrade(flight.key) : []) + answer(flight, .done)
        case .queue(let until): return enqueue(flight, until: until)
        case .send: return admitAndSend(flight)
        }
    }

    private mutating func admitAndSend(_ flight: Flight) -> [CoreAction] {
        let window = modules[flight.module]?.settings.rate.window ?? 0
        let domainHasRoom = flight.domain.map { domains.useToken($0, window: window, now: now) } ?? true
        guard hasRoom, domainHasRoom else {
            modules[flight.module]?.limiter.forget(flight.key, now: now)
            counters.overLimit += 1
            // A busy server is no domain's fault.
            return domainHasRoom ? answer(flight, .refused) : refuse(flight)
        }
        let id = makeID()
        flights[id] = flight
        deadlines.append((id, flight.deadline))
        return send(id)
    }

    /// Over a limit of the domain: counts against the domain.
    private mutating func refuse(_ flight: Flight) -> [CoreAction] {
        (flight.domain.map { countMistake(of: $0) } ?? []) + answer(flight, .refused)
    }

    private mutating func shut(_ flight: Flight) -> [CoreAction] {
        count(flight.module, \.held)
        return answer(flight, .unavailable)
    }

    /// The provider wants to be left alone for a while.
    mutating func hold(_ flight: Flight, until: Milliseconds) -> [CoreAction] {
        if waiting[flight.key] != nil { return cover(flight) }
        modules[flight.module]?.limiter.wait(flight.key, important: flight.isImportant, until: until, now: now)
        return enqueue(flight, until: until)
    }

    /// A push waits already.
    private mutating func cover(_ flight: Flight) -> [CoreAction] {
        count(flight.module, \.covered)
        return (flight.isImportant ? upgrade(flight.key) : []) + answer(flight, .done)
    }

    /// Queues a push, and answers that the push is in good hands; the limiter has counted the push already.
    mutating func enqueue(_ flight: Flight, until: Milliseconds) -> [CoreAction] {
        guard queued.count < settings.limits.queued else {
            modules[flight.module]?.limiter.forget(flight.key, now: now)
            counters.overLimit += 1
            return answer(flight, .unavailable)
        }
        count(flight.module, \.queued)
        let id = makeID()
        var waitingFlight = flight
        waitingFlight.requester = nil
        waitingFlight.isKept = true
        waitingFlight.attempts = 0
        waitingFlight.deadline = until
        queued[id] = waitingFlight
        waiting[flight.key] = id
        dues.add(id, at: until)
        return [.keep(row(id, waitingFlight, due: until))] + answer(flight, .done)
    }

    private mutating func upgrade(_ key: HashedKey) -> [CoreAction] {
        guard let id = waiting[key], var flight = queued[id], !flight.isImportant else { return [] }
        flight.isImportant = true
        queued[id] = flight
        return [.keep(row(id, flight, due: flight.deadline))]
    }

    func row(_ id: UInt64, _ flight: Flight, due: Milliseconds) -> QueuedPush {
        QueuedPush(
            id: id, module: flight.module, token: flight.token, isImportant: flight.isImportant, due: due,
            attempts: flight.attempts)
    }

    func answer(_ flight: Flight, _ answer: Answer) -> [CoreAction] {
        flight.requester.map { [.answer($0, answer)] } ?? []
    }
}
