extension PushCore {
    /// Does the due work.
    public mutating func tick(now time: Milliseconds) -> [CoreAction] {
        advance(time)
        var actions: [CoreAction] = []
        if var sharing, sharing.next <= now {
            self.sharing = nil
            actions += sharing.tick(&blocks, now: now)
            self.sharing = sharing
        }
        while let deadline = deadlines.first, deadline.at <= now {
            deadlines.removeFirst()
            actions += expire(deadline.id)
        }
        while let answer = late.dequeue(isEnding ? .max : now) { actions.append(answer) }
        while let id = retries.dequeue(now) { actions += retry(id) }
        // While too many pushes are in flight, the others wait and are not examined.
        while !flights.isFull, let id = dues.dequeue(isEnding ? .max : now) { actions += due(id) }
        return actions
    }

    /// Removes some of the expired entries, few enough not to delay other work. To be called about once a minute, repeatedly
    /// until the result indicates the end of the round.
    public mutating func cleanUp(now time: Milliseconds) -> Bool {
        advance(time)
        var isOver = blocks.cleanUp(now)
        _ = domains.cleanUp(now)
        for name in modules.keys where modules[name]?.limiter.cleanUp(now) == false { isOver = false }
        return isOver
    }

    /// Takes state from an earlier process, whole or in parts. To be called before anything else; blocks before queued
    /// pushes.
    ///
    /// - Returns: queued pushes that are no longer needed.
    public mutating func restore(
        queued rows: [QueuedPush] = [], blocks stored: [BlockChange] = [], hits: [BlockHit] = [],
        known successes: [(key: HashedKey, at: Milliseconds)] = [], modules successful: [ModuleSuccess] = [],
        now time: Milliseconds
    ) -> [CoreAction] {
        advance(time)
        for success in successes { known.restore(success.key, at: success.at, now: now) }
        for success in successful where modules[success.module]?.identity == success.identity {
            modules[success.module]?.health.restore(success: success.at, now: now)
        }
        var actions: [CoreAction] = []
        blocks.restore(stored, hits, now: now)
        for row in rows.sorted(by: { $0.id < $1.id }) {
            lastID = max(lastID, row.id)
            let format = modules[row.module]?.settings.tokenFormat ?? .printable
            let key = keyring.present.key(token: format.subject(of: row.token), module: row.module)
            guard row.attempts < 2, modules[row.module] != nil, waiting[key] == nil else {
                actions.append(.drop(row.id))
                continue
            }
            // A clock that was wrong at the time of writing must not delay the push forever.
            let due = min(max(row.due, now), now + 3_600_000)
            queued[row.id] = InFlightPush(
                module: row.module, token: row.token, format: format, key: key, isImportant: row.isImportant,
                isKept: true,
                attempts: row.attempts, deadline: due, since: now)
            waiting[key] = row.id
            modules[row.module]?.limiter.wait(key, important: row.isImportant, until: due, now: now)
            dues.add(row.id, at: due)
        }
        return actions
    }

    /// Ids up to this id are in use by rows of an earlier process.
    public mutating func restore(lastID id: UInt64) { lastID = max(lastID, id) }

    private mutating func expire(_ id: UInt64) -> [CoreAction] {
        guard let flight = flights[id], let requester = flight.requester else { return [] }
        flights.update(id) { $0.requester = nil }
        counters.answeredLate += 1
        return [.answer(requester, .unavailable)]
    }

    private mutating func retry(_ id: UInt64) -> [CoreAction] {
        guard flights[id] != nil else { return [] }
        return send(id)
    }

    /// A queued push is due. The blocklist and the module are checked again.
    private mutating func due(_ id: UInt64) -> [CoreAction] {
        guard var flight = queued.removeValue(forKey: id) else { return [] }
        waiting[flight.key] = nil
        guard let health = modules[flight.module]?.health.gate(isKnown: !isNew(flight), now: now), shouldSend(&flight)
        else {
            modules[flight.module]?.limiter.forget(flight.key, now: now)
            return [.drop(id)]
        }
        // The row stays for the next process.
        if isEnding, health != .open { return [] }
        switch health {
        case .held(let until): return requeue(id, flight, until: until)
        case .shut:
            guard flight.isWorthWaiting(now) else {
                count(flight.module, \.dropped)
                modules[flight.module]?.limiter.forget(flight.key, now: now)
                return [.drop(id)]
            }
            // The stored row may still have the old due time: after a restart the push is due at once.
            _ = requeue(id, flight, until: now + 1_000)
            return []
        case .open: break
        }
        modules[flight.module]?.limiter.fire(flight.key, now: now)
        flight.deadline = now + settings.limits.answer
        flights[id] = flight
        return send(id)
    }
}
