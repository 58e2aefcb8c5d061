import KalijText

extension PushCore {
    /// A publish was received.
    public mutating func publish(_ publish: Publish, now time: Milliseconds) -> [CoreAction] {
        advance(time)
        counters.publishes += 1
        if isEnding { return [.answer(publish.requester, .unavailable)] }
        let sender = Sender(publish.domain, keyring.present)
        if let refusal = admit(sender, publish.requester) { return refusal }
        let actions = countPublish(of: sender, malformed: false)
        guard let name = settings.moduleName(publish.module), let module = modules[name],
            case let format = module.settings.tokenFormat, let token = format.form(of: publish.token)
        else { return actions + refuseUnusable(publish.requester) }
        let key = keyring.present.key(token: format.subject(of: token), module: name)
        var flight = InFlightPush(
            module: name, token: token, format: format, key: key, domain: sender.domain, owner: sender.owner,
            requester: publish.requester, isImportant: publish.isImportant, deadline: now + settings.limits.answer,
            since: now)
        return actions + (blocked(&flight) ?? dispatch(flight))
    }

    /// A malformed publish was received.
    public mutating func malformed(_ requester: Requester, domain name: String, now time: Milliseconds) -> [CoreAction]
    {
        advance(time)
        counters.publishes += 1
        let sender = Sender(name, keyring.present)
        if let refusal = admit(sender, requester) { return refusal }
        counters.malformed += 1
        return countPublish(of: sender, malformed: true) + [.answer(requester, .refused)]
    }

    /// A publish was received that is wrong because of a user, and not because of the server.
    public mutating func unusable(_ requester: Requester, now time: Milliseconds) -> [CoreAction] {
        advance(time)
        counters.publishes += 1
        return refuseUnusable(requester)
    }

    private mutating func refuseUnusable(_ requester: Requester) -> [CoreAction] {
        counters.unusable += 1
        return [.answer(requester, .refused)]
    }

    /// Refuses a publish of a blocked domain, or of a new one when there are too many domains.
    private mutating func admit(_ sender: Sender, _ requester: Requester) -> [CoreAction]? {
        let isTrusted = domains.isInGoodStanding(sender.domain, now: now)
        if blocks.isBlocked(domain: keyring.keys(domain: sender.name), isTrusted: isTrusted, now: now) {
            counters.domainBlocked += 1
            return [.answer(requester, .refused)]
        }
        if !domains.admit(sender.domain, of: sender.owner, now: now) {
            counters.overLimit += 1
            return [.answer(requester, .refused)]
        }
        return nil
    }

    private mutating func countPublish(of sender: Sender, malformed: Bool) -> [CoreAction] {
        guard domains.published(sender.domain, malformed: malformed, now: now) else { return [] }
        return blocks.block(domain: sender.domain, for: settings.limits.domainBlock, now: now)
    }

    /// Answers a publish for a blocked token, and extends the block by the hit; nil if the token is not blocked.
    private mutating func blocked(_ flight: inout InFlightPush) -> [CoreAction]? {
        let keys = keyring.keys(of: flight)
        guard let module = modules[flight.module] else { return nil }
        switch blocks.standing(keys, \.tokens, now: now) {
        case .free: return nil
        case .hearsay:
            if shouldSend(&flight) { return nil }
            count(flight.module, \.hearsay)
            return answerLate(flight, .unavailable)
        case .proven(let reason):
            count(flight.module, \.blocked)
            // The cause of the module's doubt may have made the token look bad, too.
            let isProven = reason == .dead || module.health.state == .healthy
            let hits = isProven ? blocks.hit(keys, reason, module.settings.blocking, now: now) : []
            return hits + answerLate(flight, isProven ? .dead : .unavailable)
        }
    }

    /// Whether the push is to be sent to the provider. Another node's claim does not stop the push if this node had a success
    /// lately: the push then checks the claim.
    mutating func shouldSend(_ flight: inout InFlightPush) -> Bool {
        switch blocks.standing(keyring.keys(of: flight), \.tokens, now: now) {
        case .free: return true
        case .proven: return false
        case .hearsay(let hearsay):
            flight.hearsay = hearsay
            return !isNew(flight)
        }
    }

    /// Whether no push to the token has succeeded lately.
    func isNew(_ flight: InFlightPush) -> Bool { !keyring.keys(of: flight).contains { known.contains($0, now: now) } }

    /// Checks the module, the rate, the domain's new tokens; then sends.
    private mutating func dispatch(_ flight: InFlightPush) -> [CoreAction] {
        switch modules[flight.module]?.health.gate(isKnown: !isNew(flight), now: now) ?? .shut {
        case .shut: return shut(flight)
        case .held(let until): return hold(flight, until: until)
        case .open: break
        }
        if isNew(flight), let domain = flight.domain, !domains.takesNewTokens(domain, now: now) {
            counters.refusedNewTokens += 1
            return flight.answer(.refused)
        }
        // The limiter may be disabled although the provider requires the token to rest.
        if waiting[flight.key] != nil, modules[flight.module]?.settings.rate.isEnabled == false { return cover(flight) }
        switch modules[flight.module]?.limiter.decide(flight.key, important: flight.isImportant, now: now) ?? .send {
        case .covered(let isUpgrade):
            count(flight.module, \.covered)
            return refresh(flight, isUpgrade: isUpgrade) + answerLate(flight, .done)
        case .queue(let until): return enqueue(flight, until: until)
        case .send: return admitAndSend(flight)
        }
    }

    private mutating func admitAndSend(_ flight: InFlightPush) -> [CoreAction] {
        let window = modules[flight.module]?.settings.rate.window ?? 0
        let domainHasRoom = flight.domain.map { domains.useToken($0, window: window, now: now) } ?? true
        guard domainHasRoom, flights.hasRoom(for: flight.owner) else {
            modules[flight.module]?.limiter.forget(flight.key, now: now)
            counters.overLimit += 1
            return flight.answer(.refused)
        }
        let id = makeID()
        flights[id] = flight
        deadlines.append((id, flight.deadline))
        return send(id)
    }

    private mutating func shut(_ flight: InFlightPush) -> [CoreAction] {
        count(flight.module, \.held)
        return answerLate(flight, .unavailable)
    }

    /// The provider accepts no pushes for a while.
    mutating func hold(_ flight: InFlightPush, until: Milliseconds) -> [CoreAction] {
        if waiting[flight.key] != nil { return cover(flight) }
        modules[flight.module]?.limiter.wait(flight.key, important: flight.isImportant, until: until, now: now)
        return enqueue(flight, until: until)
    }

    /// A push waits already.
    private mutating func cover(_ flight: InFlightPush) -> [CoreAction] {
        count(flight.module, \.covered)
        return refresh(flight, isUpgrade: flight.isImportant) + answerLate(flight, .done)
    }

    /// Enqueues a push, and answers with success; the limiter has counted the push already.
    mutating func enqueue(_ flight: InFlightPush, until: Milliseconds) -> [CoreAction] {
        guard queued.hasRoom(for: flight.owner) else {
            modules[flight.module]?.limiter.forget(flight.key, now: now)
            counters.overLimit += 1
            return answerLate(flight, .unavailable)
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
        return [.keep(waitingFlight.row(id, due: until))] + answerLate(flight, .done, for: id)
    }

    /// A publish is covered by a waiting push, which takes over its importance, and is sent with the latest keys of the device.
    private mutating func refresh(_ publish: InFlightPush, isUpgrade: Bool) -> [CoreAction] {
        guard let id = waiting[publish.key], var flight = queued[id] else { return [] }
        let isUpgrade = isUpgrade && !flight.isImportant
        guard isUpgrade || !flight.token.utf8.elementsEqual(publish.token.utf8) else { return [] }
        flight.isImportant = flight.isImportant || isUpgrade
        flight.token = publish.token
        queued[id] = flight
        return [.keep(flight.row(id, due: flight.deadline))]
    }

    /// An answer without a provider, as late as with a provider.
    private mutating func answerLate(_ flight: InFlightPush, _ answer: Answer, for push: UInt64? = nil) -> [CoreAction]
    {
        guard let requester = flight.requester else { return [] }
        // After an answer of the provider ("too many") the time has passed already.
        let wait = flight.attempts > 0 ? 0 : modules[flight.module]?.pace.draw(&random) ?? 0
        guard wait > 0, late.count < settings.limits.inFlight else { return [.answer(requester, answer)] }
        late.add(requester, answer, for: push, at: now + wait)
        return []
    }

    /// A queued push could not be kept on the disk.
    public mutating func notKept(_ id: UInt64) { late.notKept(id) }
}

/// The domain of a publish.
private struct Sender {
    let name: String
    let domain: HashedKey
    /// Who has registered the domain.
    let owner: HashedKey

    init(_ name: String, _ hasher: KeyHasher) {
        self.name = name
        domain = hasher.key(domain: name)
        let registered = RegistrableDomain.of(name)
        owner = registered.exact == name.exact ? domain : hasher.key(domain: registered)
    }
}
