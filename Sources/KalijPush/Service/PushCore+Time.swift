extension PushCore {
    /// Does what is due.
    public mutating func tick(now time: Milliseconds) -> [CoreAction] {
        advance(time)
        var actions: [CoreAction] = []
        while let deadline = deadlines.first, deadline.at <= now {
            deadlines.removeFirst()
            actions += answerLate(deadline.id)
        }
        while let item = agenda.take(now) {
            switch item {
            case .retry(let id): actions += retry(id)
            case .due(let id): actions += due(id)
            }
        }
        blocklist.cleanUp(now)
        for name in modules.keys { modules[name]?.limiter.cleanUp(now) }
        return actions
    }

    /// Queued pushes, blocks and successes that are older than the process. To be called before anything else.
    ///
    /// - Returns: rows that are of no more use.
    public mutating func restore(
        queued rows: [QueuedPush], blocks: [BlockChange], known successes: [(key: HashedKey, at: Milliseconds)] = [],
        now time: Milliseconds
    ) -> [CoreAction] {
        advance(time)
        for success in successes { known.restore(success.key, at: success.at, now: now) }
        for block in blocks { blocklist.merge(clamped(block), now: now) }
        var actions: [CoreAction] = []
        for row in rows.sorted(by: { $0.id < $1.id }) {
            lastID = max(lastID, row.id)
            let key = hasher.key(token: row.token, module: row.module)
            guard row.attempts < 2, modules[row.module] != nil, waiting[key] == nil else {
                actions.append(.drop(row.id))
                continue
            }
            // A clock that was wrong when the row was written must not keep it for ever.
            let due = min(max(row.due, now), now + 3_600_000)
            queued[row.id] = Flight(
                module: row.module, token: row.token, key: key, isImportant: row.isImportant, isKept: true,
                attempts: row.attempts, deadline: due, since: now)
            waiting[key] = row.id
            modules[row.module]?.limiter.wait(key, important: row.isImportant, until: due, now: now)
            agenda.add(.due(row.id), at: due)
        }
        return actions
    }

    /// No block lasts longer than the longest that we would make.
    private func clamped(_ block: BlockChange) -> BlockChange {
        let longest =
            modules.values.map { max($0.settings.blocking.deadAgain, $0.settings.blocking.badAgain) }.max() ?? 0
        var block = block
        block.expires = min(block.expires, now + max(longest, settings.limits.domainBlock, 86_400_000))
        return block
    }

    private mutating func answerLate(_ id: UInt64) -> [CoreAction] {
        guard let flight = flights[id], let requester = flight.requester else { return [] }
        flights[id]?.requester = nil
        counters.answeredLate += 1
        return [.answer(requester, .unavailable)]
    }

    private mutating func retry(_ id: UInt64) -> [CoreAction] {
        guard flights[id] != nil else { return [] }
        return send(id)
    }

    /// A queued push is due. The blocklist and the module are asked again.
    private mutating func due(_ id: UInt64) -> [CoreAction] {
        guard var flight = queued.removeValue(forKey: id) else { return [] }
        waiting[flight.key] = nil
        guard let health = modules[flight.module]?.health.gate(now: now), blocklist.reason(flight.key, now: now) == nil
        else {
            modules[flight.module]?.limiter.forget(flight.key, now: now)
            return [.drop(id)]
        }
        switch health {
        case .held(let until): return requeue(id, flight, until: until)
        case .shut:
            // Ten minutes of a provider that does not work are enough; the device will hear of it by the next message.
            guard now - flight.since < 600_000 else {
                count(flight.module, \.dropped)
                modules[flight.module]?.limiter.forget(flight.key, now: now)
                return [.drop(id)]
            }
            return requeue(id, flight, until: now + 1_000)
        case .open: break
        }
        guard flights.count < settings.limits.inFlight else { return requeue(id, flight, until: now + 1_000) }
        modules[flight.module]?.limiter.fire(flight.key, now: now)
        flight.deadline = now + settings.limits.answer
        flights[id] = flight
        return send(id)
    }
}
