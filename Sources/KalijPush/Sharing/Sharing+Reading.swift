extension Sharing {
    private static let readPause: Milliseconds = 2_000
    private static let endsPause: Milliseconds = 15_000
    private static let rereadPause: Milliseconds = 600_000
    /// Entries requested at a time, of each stream.
    private static let entries = 8
    /// Streams requested at a time: a reply has a megabyte at most.
    private static let streams = 6

    /// Requests new entries, if the last ones are taken.
    mutating func read(_ index: Int, _ blocks: BlockTables, now: Milliseconds) -> [CoreAction] {
        guard let readsAt = links[index].readsAt, now >= readsAt else { return [] }
        links[index].nextRead = now + Self.readPause
        var questions: [(RedisStreamState.Question, RedisCommand)] = [
            (.time(wall: blocks.wall(now)), RedisCommand("TIME"))
        ]
        let origins = blocks.origins.admitted
        for start in stride(from: 0, to: origins.count, by: Self.streams) {
            questions.append(
                readQuestion(index, Array(origins[start..<min(start + Self.streams, origins.count)]), blocks))
        }
        if now >= links[index].nextEnds {
            links[index].nextEnds = now + Self.endsPause
            // An emptied stream is noticed by a node without anything to write, too.
            if links[index].additions == 0 {
                let own = RedisStreamState.Question.end(origin: NodeRegistry.here, expected: links[index].own.chain)
                questions.append((own, RedisCommand("XINFO", "STREAM", stream(NodeRegistry.here, blocks))))
            }
            for origin in origins where links[index].positions[origin] != nil {
                questions.append(
                    (.end(origin: origin, expected: 0), RedisCommand("XINFO", "STREAM", stream(origin, blocks))))
            }
        }
        return send(index, questions, now: now)
    }

    func readQuestion(
        _ index: Int, _ origins: [UInt16], _ blocks: BlockTables
    ) -> (RedisStreamState.Question, RedisCommand) {
        let places = origins.map { EntryID.after(links[index].positions[$0] ?? 0) }
        let words = ["XREAD", "COUNT", "\(Self.entries)", "STREAMS"] + origins.map { stream($0, blocks) } + places
        return (.read(origins), RedisCommand(words))
    }

    /// Entries were received: they are taken one by one.
    mutating func entriesReceived(
        _ reply: RESP, of origins: [UInt16], _ index: Int, _ blocks: BlockTables, now: Milliseconds
    ) -> Bool {
        guard let streams = reply.array else { return reply == .null }
        for stream in streams {
            guard let pair = stream.array, pair.count == 2, let entries = pair[1].array,
                let origin = origins.first(where: { pair[0].string == self.stream($0, blocks) })
            else { return false }
            if entries.count >= Self.entries {
                links[index].nextRead = now
                if origin == NodeRegistry.here { links[index].own.hasMore = true }
            }
            for entry in entries {
                guard let parts = entry.array, parts.count == 2 else { return false }
                guard let id = EntryID.parse(parts[0].string) else { return false }
                let value = parts[1].value(of: "e")?.bytes ?? []
                links[index].inbox.append(RedisStreamState.Reading(origin: origin, id: id, value: value))
            }
        }
        return true
    }

    // MARK: Taking

    /// Whether entries are waiting to be taken.
    var hasEntries: Bool { links.contains { $0.inbox.count > 0 } }

    /// Takes an entry: as much as is done in a turn.
    mutating func processEntry(_ blocks: inout BlockTables, now: Milliseconds) -> [CoreAction] {
        guard let index = links.indices.first(where: { links[$0].inbox.count > 0 }),
            let reading = links[index].inbox.first
        else { return [] }
        links[index].inbox.removeFirst()
        var actions = process(reading, index, &blocks, now: now)
        if links[index].inbox.count == 0, links[index].phase == .starting {
            actions += readOwn(index, &blocks, now: now)
        }
        return actions
    }

    private mutating func process(
        _ reading: RedisStreamState.Reading, _ index: Int, _ blocks: inout BlockTables, now: Milliseconds
    ) -> [CoreAction] {
        let (origin, position) = (reading.origin, links[index].positions[reading.origin] ?? 0)
        // Read twice, or of a node that was excluded meanwhile.
        guard reading.id > position, blocks.origins.isAdmitted(origin) else { return [] }
        let stream = stream(origin, blocks)
        var entry: SharedEntry?
        switch keys.open(reading.value, stream: stream, id: reading.id) {
        case .plain(let bytes):
            entry = SharedEntry(bytes, origin: blocks.origins.origin(origin))
            if entry == nil { refuse(.seal, origin) }
        case .unknownSecret: refuse(.secret, origin)
        case .broken: refuse(.seal, origin)
        }
        if let entry, isGap(entry, after: position, origin, index) {
            peers[origin]?.gaps += 1
            if let again = reread(origin, index, blocks, now: now) { return again }
        }
        links[index].positions[origin] = reading.id
        let latest = max(peers[origin]?.latest ?? 0, reading.id)
        peers[origin]?.latest = latest
        var actions: [CoreAction] = []
        if let entry {
            for _ in 0..<entry.unknown { refuse(.reason, origin) }
            if origin == NodeRegistry.here { recordOwn(entry, reading.id, index) }
            for record in entry.records { actions += apply(record, origin, &blocks, now: now, link: index) }
        }
        return actions + keepPosition(index, origin, blocks)
    }

    /// Whether entries are missing that no snapshot replaces: some were lost, or the server has an older stream again, and
    /// what was read last is not in it any more.
    private func isGap(_ entry: SharedEntry, after position: UInt64, _ origin: UInt16, _ index: Int) -> Bool {
        origin != NodeRegistry.here && position > 0 && entry.previous != position && !entry.isFirst
    }

    /// The stream is read from its beginning again, once in ten minutes.
    mutating func reread(
        _ origin: UInt16, _ index: Int, _ blocks: BlockTables, now: Milliseconds
    ) -> [CoreAction]? {
        guard now >= links[index].rereadAt[origin] ?? 0 else {
            links[index].gaps.insert(origin)
            return nil
        }
        links[index].gaps.remove(origin)
        links[index].rereadAt[origin] = now + Self.rereadPause
        links[index].positions[origin] = nil
        links[index].inbox = links[index].inbox.without { $0.origin == origin }
        links[index].nextRead = now
        return [.position(position(0, of: origin, index, blocks))]
    }

    private func position(_ entry: UInt64, of origin: UInt16, _ index: Int, _ blocks: BlockTables) -> ReadPosition {
        ReadPosition(server: settings.redis[index].label, node: blocks.origins.name(origin), entry: entry)
    }

    mutating func refuse(_ refusal: Refusal, _ origin: UInt16) {
        peers[origin]?.refused[refusal, default: 0] += 1
    }

    /// Takes a record.
    /// - Parameter link: the server that the record was read from; nil for a record that has waited.
    mutating func apply(
        _ record: BlockChange, _ origin: UInt16, _ blocks: inout BlockTables, now: Milliseconds, link: Int? = nil
    ) -> [CoreAction] {
        let wall = blocks.wall(now)
        var record = record
        record.expires = min(record.expires, record.time + settings.longestBlock)
        if origin == NodeRegistry.here {
            let isTaken = blocks.merge(record, now: now)
            if let link {
                let key = SharedKey(key: record.key, isDomain: record.reason == .mistakes)
                blocks.mark(key, version: record.version, links[link].bit | TokenBlocklist.admittedBit)
            }
            return isTaken ? [.block(record)] : []
        }
        guard record.time + settings.longestBlock > wall else { return refused(.ended, origin) }
        guard record.time <= wall + TokenBlocklist.ahead else { return wait(record, origin) }
        let table = record.reason == .mistakes ? blocks.domains : blocks.tokens
        guard table.isNews(record) else { return [] }
        guard table.shares[origin].count < share(of: table) || table.record(record.key)?.change.origin == record.origin
        else {
            return refused(.share, origin)
        }
        guard peers[origin]?.budget.acquire(record.time, now: wall) == true else {
            // They are free in ten minutes.
            for index in links.indices { links[index].gaps.insert(origin) }
            return refused(.budget, origin)
        }
        guard blocks.merge(record, now: now) else { return [] }
        peers[origin]?.accepted += 1
        return [.block(record)]
    }

    private mutating func refused(_ refusal: Refusal, _ origin: UInt16) -> [CoreAction] {
        refuse(refusal, origin)
        return []
    }

    private mutating func wait(_ record: BlockChange, _ origin: UInt16) -> [CoreAction] {
        guard let early = peers[origin]?.early, early.count < Self.maxEarly else {
            for index in links.indices { links[index].gaps.insert(origin) }
            return refused(.ahead, origin)
        }
        if !early.contains(record) { peers[origin]?.early.append(record) }
        return []
    }

    /// How far a stream was read, for the next process. While records wait in memory, their place is not passed.
    func keepPosition(_ index: Int, _ origin: UInt16, _ blocks: BlockTables) -> [CoreAction] {
        guard origin != NodeRegistry.here, peers[origin]?.early.isEmpty ?? true,
            let position = links[index].positions[origin]
        else { return [] }
        return [.position(self.position(position, of: origin, index, blocks))]
    }
}
