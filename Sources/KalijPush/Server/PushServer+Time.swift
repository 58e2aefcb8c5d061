extension PushServer {
    func planTick() {
        guard let next = core.next, next < tickerAt else { return }
        ticker?.cancel()
        tickerAt = next
        ticker = loop.schedule(after: Double(max(0, next - clock.now)) / 1000 + 0.001) { [weak self] in self?.tick() }
    }

    private func tick() {
        ticker = nil
        tickerAt = .max
        core.wallClock(isAhead: clock.wallOffset)
        enqueue(core.tick(now: clock.now))
        planTick()
        if !isFlushPlanned { endIfDrained() }
    }

    // MARK: Stored state

    /// Reads a part of the stored state, and returns to the loop before the next part.
    func loadPart() {
        do {
            guard let part = try kept?.next() else { return loaded() }
            enqueue(
                core.restore(
                    queued: part.queued, blocks: part.blocks, hits: part.hits, known: part.known, modules: part.modules,
                    now: clock.now))
        } catch {
            // The server can still send pushes. The rows stay in the database for the next start.
            loadFailure = "\(error)"
            report(.alarm, "the database cannot be read: \(error)")
            return loaded()
        }
        loop.enqueue { [weak self] in self?.loadPart() }
    }

    // MARK: Clearing up

    /// Once a minute all tables are searched for expired entries, in parts.
    func cleanUp() {
        let now = clock.now
        var isOver = false
        for _ in 0..<4 where !isOver { isOver = core.cleanUp(now: now) }
        loop.schedule(after: isOver ? 60 : 0.005) { [weak self] in self?.cleanUp() }
    }

    /// The database's tables have another number of parts.
    func cleanUpDatabase() {
        var isOver = true
        if let database, isLoaded, keeper?.failure == nil {
            // An error here also occurs in keeping, and is reported there.
            isOver =
                (try? database.cleanUp(
                    now: clock.now + core.blocks.wallOffset, longest: core.blocks.tokens.maxBlock,
                    known: max(clock.now - core.settings.limits.known, core.known.oldest))) ?? true
        }
        loop.schedule(after: isOver ? 60 : 0.01) { [weak self] in self?.cleanUpDatabase() }
    }
}
