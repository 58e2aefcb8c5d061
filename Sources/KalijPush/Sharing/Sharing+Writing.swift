extension Sharing {
    private static let pause: Milliseconds = 500
    private static let signOfLife: Milliseconds = 60_000
    private static let day: Milliseconds = 86_400_000
    /// After a refused write.
    static let rest: Milliseconds = 30_000

    /// Appends due entries to this node's stream: a pipeline that first checks whether the stream is still the same.
    mutating func write(_ index: Int, _ blocks: inout BlockTables, now: Milliseconds) -> [CoreAction] {
        guard let writesAt = links[index].writesAt, now >= writesAt else { return [] }
        links[index].own.nextWrite = now + Self.pause
        guard !isClockWrong, links[index].clockOffset != nil else { return [] }
        if links[index].own.snapshot == nil, now >= links[index].own.nextSnapshot {
            links[index].own.snapshot = .init()
        }
        // A running search does not return to its first parts.
        if links[index].own.search == nil, now >= links[index].own.nextSearch {
            links[index].own.nextSearch = .max
            links[index].own.search = 0
        }
        guard let entry = nextEntry(index, &blocks, now: now) else { return [] }
        return add(index, entry, blocks, now: now)
    }

    /// New records first: a snapshot of many records takes its time.
    private mutating func nextEntry(
        _ index: Int, _ blocks: inout BlockTables, now: Milliseconds
    ) -> (keys: [SharedKey], isFirst: Bool, isLast: Bool)? {
        let isSnapshot = links[index].own.snapshot.map { !$0.isWritten } ?? false
        if !isSnapshot || links[index].own.outbox.count > 0 {
            let keys = nextOfOutbox(index, &blocks, now: now, searches: !isSnapshot)
            if isSnapshot || links[index].own.search != nil { links[index].own.nextWrite = now }
            if !keys.isEmpty { return (keys, false, false) }
            if !isSnapshot { return now - links[index].own.lastWrite >= Self.signOfLife ? ([], false, false) : nil }
        }
        links[index].own.nextWrite = now
        return nextOfSnapshot(index, blocks)
    }

    private mutating func add(
        _ index: Int, _ entry: (keys: [SharedKey], isFirst: Bool, isLast: Bool), _ blocks: BlockTables,
        now: Milliseconds
    ) -> [CoreAction] {
        let records = entry.keys.compactMap { key in blocks.own(key).map { (key, $0.change) } }
        let previous = links[index].own.chain
        // The last id of all may be in use: then the server refuses the entry, and the alarm reports why.
        let highest = links[index].own.highest
        let id = max(highest == .max ? .max : highest + 1, UInt64(clamping: blocks.wall(now)))
        let plain = SharedEntry(
            isFirst: entry.isFirst, isLast: entry.isLast, previous: previous, records: records.map(\.1))
        let stream = settings.stream(settings.name)
        guard let value = keys.seal(plain.bytes, stream: stream, id: id) else {
            let records = records.map { (key: $0.0, version: $0.1.version) }
            return refused(
                .init(id: id, records: records, isLast: entry.isLast), "not sealed", index,
                now: now)
        }
        if entry.isFirst { links[index].own.snapshot?.first = id }
        links[index].own.highest = id
        links[index].own.chain = id
        links[index].own.lastWrite = now
        let addition = RedisStreamState.Addition(
            id: id, records: records.map { (key: $0.0, version: $0.1.version) }, isLast: entry.isLast)
        return send(
            index,
            [
                (.end(origin: NodeRegistry.here, expected: previous), RedisCommand("XINFO", "STREAM", stream)),
                (.add(addition), RedisCommand(words: ["XADD", stream, EntryID.text(id), "e"], value: value)),
            ], now: now)
    }

    /// Sends questions.
    mutating func send(
        _ index: Int, _ questions: [(RedisStreamState.Question, RedisCommand)], now: Milliseconds
    ) -> [CoreAction] {
        for question in questions { links[index].awaited.append((question: question.0, at: now)) }
        return [.redis(link: index, .send(questions.map(\.1)))]
    }

    // MARK: What is written

    /// Parts of the tables that are searched in a turn.
    private static let parts = 16

    private mutating func nextOfOutbox(
        _ index: Int, _ blocks: inout BlockTables, now: Milliseconds, searches: Bool
    ) -> [SharedKey] {
        var keys: [SharedKey] = []
        let bit = links[index].bit
        while keys.count < SharedEntry.maxRecords, let key = links[index].own.outbox.first {
            links[index].own.outbox.removeFirst()
            if let record = blocks.own(key), record.shared & bit == 0 { keys.append(key) }
        }
        for _ in 0..<Self.parts where searches && keys.count < SharedEntry.maxRecords / 2 {
            guard let part = links[index].own.search else { break }
            for key in blocks.ownRecords(part: part, missing: bit) {
                // The rest of the part follows with the next entry.
                guard keys.count < SharedEntry.maxRecords else { return keys }
                guard let record = blocks.own(key) else { continue }
                if admit(key, record, &blocks, now: now) {
                    keys.append(key)
                } else {
                    links[index].own.nextSearch = now + Self.signOfLife
                }
            }
            links[index].own.search = part + 1 < BlockTables.parts ? part + 1 : nil
        }
        return keys
    }

    /// - Returns: nil while too few records were found.
    private mutating func nextOfSnapshot(
        _ index: Int, _ blocks: BlockTables
    ) -> (keys: [SharedKey], isFirst: Bool, isLast: Bool)? {
        guard var snapshot = links[index].own.snapshot else { return nil }
        for _ in 0..<Self.parts
        where snapshot.records.count < SharedEntry.maxRecords && snapshot.part < BlockTables.parts {
            // What has not been admitted is written when the budget allows.
            snapshot.records += blocks.ownRecords(part: snapshot.part).filter { key in
                (blocks.own(key)?.shared ?? 0) != 0
            }
            snapshot.part += 1
        }
        let isOver = snapshot.part >= BlockTables.parts
        let isFirst = snapshot.first == 0
        // The first entry is written at once: a record made behind the search and written before that entry would be trimmed.
        guard isFirst || isOver || snapshot.records.count >= SharedEntry.maxRecords else {
            links[index].own.snapshot = snapshot
            return nil
        }
        let keys = Array(snapshot.records.prefix(SharedEntry.maxRecords))
        snapshot.records.removeFirst(keys.count)
        snapshot.isWritten = isOver && snapshot.records.isEmpty
        links[index].own.snapshot = snapshot
        return (keys, isFirst, snapshot.isWritten)
    }

    // MARK: Replies

    /// The server has taken an entry.
    mutating func added(
        _ addition: RedisStreamState.Addition, _ index: Int, _ blocks: inout BlockTables, now: Milliseconds
    ) -> [CoreAction] {
        links[index].own.last = max(links[index].own.last, addition.id)
        var actions: [CoreAction] = []
        if links[index].own.isRefused {
            links[index].own.isRefused = false
            let text = "entries are taken again"
            actions = [.alarm(module: "nodes.\(settings.redis[index].label)", text, isOver: true)]
        }
        for (key, version) in addition.records {
            blocks.mark(key, version: version, links[index].bit | TokenBlocklist.admittedBit)
        }
        guard addition.isLast, let snapshot = links[index].own.snapshot, snapshot.isWritten else { return actions }
        links[index].own.lastSnapshot = snapshot.first
        links[index].own.snapshot = nil
        links[index].own.nextSnapshot = now + Self.day + Milliseconds.random(in: 0...3_600_000, using: &random)
        let stream = settings.stream(settings.name)
        return actions
            + send(index, [(.trim, RedisCommand("XTRIM", stream, "MINID", EntryID.text(snapshot.first)))], now: now)
    }

    /// The server has refused an entry.
    mutating func refused(
        _ addition: RedisStreamState.Addition, _ words: String, _ index: Int, now: Milliseconds
    ) -> [CoreAction] {
        requeue(addition, index)
        links[index].own.isRefused = true
        links[index].own.chain = links[index].own.last
        links[index].own.nextWrite = now + Self.rest
        return [
            .alarm(module: "nodes.\(settings.redis[index].label)", "an entry was refused: \(words)", isOver: false)
        ]
    }

    /// An entry was not appended to the stream, or this could not be confirmed.
    mutating func requeue(_ addition: RedisStreamState.Addition, _ index: Int) {
        for record in addition.records { links[index].offer(record.key) }
        // A snapshot that lacks this entry is incomplete.
        if links[index].own.snapshot != nil {
            links[index].own.snapshot = nil
            links[index].own.nextSnapshot = 0
        }
    }

    /// Compares the end of this node's stream at the server with the expected one.
    mutating func ownEnd(_ end: UInt64, expected: UInt64, _ index: Int, now: Milliseconds) -> [CoreAction] {
        guard end != expected else { return [] }
        // The stream was emptied, is older than it was, or was written by another process.
        links[index].own.highest = max(links[index].own.highest, end)
        links[index].own.snapshot = nil
        // Two nodes with the same name would write snapshots without end.
        links[index].own.nextSnapshot = max(now, links[index].own.strangeAt + 20_000)
        links[index].own.strangeAt = now
        links[index].own.search = 0
        let text = "this node's stream is not as it was: all records are written again"
        return [.notice(module: "nodes.\(settings.redis[index].label)", text)]
    }
}
