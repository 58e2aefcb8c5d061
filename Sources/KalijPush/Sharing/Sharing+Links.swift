import KalijText

extension Sharing {
    /// A connection to a server was established.
    mutating func connected(_ index: Int, _ blocks: BlockTables, now: Milliseconds) -> [CoreAction] {
        var link = links[index]
        link.phase = .starting
        link.awaited = FIFO()
        link.inbox = FIFO()
        link.nextRead = now
        link.nextEnds = now
        links[index] = link
        var questions: [(RedisStreamState.Question, RedisCommand)] = link.login.map { [(.login, $0)] } ?? []
        questions.append((.time(wall: blocks.wall(now)), RedisCommand("TIME")))
        if link.own.isRead {
            let stream = settings.stream(settings.name)
            questions.append(
                (.end(origin: NodeRegistry.here, expected: link.own.last), RedisCommand("XINFO", "STREAM", stream)))
        } else {
            questions.append(readQuestion(index, [NodeRegistry.here], blocks))
        }
        return send(index, questions, now: now)
    }

    /// A connection was lost. Entries in flight may have arrived, or not.
    mutating func disconnected(_ index: Int) {
        for (question, _) in links[index].awaited.all {
            if case .add(let addition) = question { links[index].own.unsettled.append(addition) }
        }
        links[index].phase = .down
        links[index].awaited = FIFO()
        links[index].inbox = FIFO()
        links[index].clockOffset = nil
    }

    /// - Parameter rest: how long the server is to be left alone, at least.
    mutating func lose(
        _ index: Int, _ reason: String, rest: Milliseconds = 0, now: Milliseconds
    ) -> [CoreAction] {
        disconnected(index)
        return [.redis(link: index, .drop(reason, rest: rest))]
    }

    /// A reply was received.
    mutating func received(
        _ reply: RESP, _ index: Int, _ blocks: inout BlockTables, now: Milliseconds
    ) -> [CoreAction] {
        guard let first = links[index].awaited.first else {
            return lose(index, "an answer to nothing", rest: Self.rest, now: now)
        }
        links[index].awaited.removeFirst()
        if case .error(let words) = reply { return failed(first.question, words, index, &blocks, now: now) }
        switch first.question {
        case .login, .trim: return []
        case .time(let wall): return timeReceived(reply, asked: wall, index, blocks, now: now)
        case .end(let origin, let expected):
            guard let end = EntryID.parse(reply.value(of: "last-generated-id")?.string) else {
                return lose(index, "no end of a stream", rest: Self.rest, now: now)
            }
            return ended(end, origin, expected, index, &blocks, now: now)
        case .add(let addition): return added(addition, index, &blocks, now: now)
        case .read(let origins):
            guard entriesReceived(reply, of: origins, index, blocks, now: now) else {
                return lose(index, "no entries of streams", rest: Self.rest, now: now)
            }
            guard links[index].phase == .starting, links[index].inbox.count == 0 else { return [] }
            return readOwn(index, &blocks, now: now)
        }
    }

    private mutating func timeReceived(
        _ reply: RESP, asked wall: Milliseconds, _ index: Int, _ blocks: BlockTables, now: Milliseconds
    ) -> [CoreAction] {
        guard let parts = reply.array, parts.count == 2, let seconds = parts[0].number,
            let micros = parts[1].number, 0...100_000_000_000 ~= seconds, 0..<1_000_000 ~= micros
        else { return lose(index, "no time", rest: Self.rest, now: now) }
        // Half of the round trip each way.
        let middle = wall + (blocks.wall(now) - wall) / 2
        links[index].clockOffset = middle - (seconds * 1000 + micros / 1000)
        return []
    }

    /// A server has returned the id of a stream's last entry.
    private mutating func ended(
        _ end: UInt64, _ origin: UInt16, _ expected: UInt64, _ index: Int, _ blocks: inout BlockTables,
        now: Milliseconds
    ) -> [CoreAction] {
        guard origin == NodeRegistry.here else {
            let isBelow = end < links[index].positions[origin] ?? 0
            guard isBelow || links[index].gaps.contains(origin) else { return [] }
            return reread(origin, index, blocks, now: now) ?? []
        }
        guard links[index].phase == .starting else {
            return ownEnd(end, expected: expected, index, now: now)
        }
        return settle(end, index, &blocks, now: now)
    }

    /// After a reconnect: determines which of the entries in flight have arrived.
    private mutating func settle(
        _ end: UInt64, _ index: Int, _ blocks: inout BlockTables, now: Milliseconds
    ) -> [CoreAction] {
        var actions: [CoreAction] = []
        let unsettled = links[index].own.unsettled
        links[index].own.unsettled = []
        // Of several, one may have been refused although a later entry is there.
        let isSure = unsettled.count == 1
        for addition in unsettled {
            if isSure, addition.id <= end {
                actions += added(addition, index, &blocks, now: now)
            } else {
                requeue(addition, index)
            }
        }
        actions += ownEnd(end, expected: links[index].own.last, index, now: now)
        rise(index, at: end, now: now)
        return actions
    }

    /// This node's own stream is read on, up to its end.
    mutating func readOwn(_ index: Int, _ blocks: inout BlockTables, now: Milliseconds) -> [CoreAction] {
        if links[index].own.hasMore {
            links[index].own.hasMore = false
            return send(index, [readQuestion(index, [NodeRegistry.here], blocks)], now: now)
        }
        links[index].own.isRead = true
        links[index].own.last = links[index].positions[NodeRegistry.here] ?? 0
        links[index].own.search = 0
        links[index].own.nextSnapshot =
            links[index].own.lastSnapshot == 0 ? 0 : now + Milliseconds.random(in: 0...3_600_000, using: &random)
        rise(index, at: links[index].own.last, now: now)
        return []
    }

    private mutating func rise(_ index: Int, at end: UInt64, now: Milliseconds) {
        links[index].phase = .up
        links[index].upSince = now
        links[index].own.chain = end
        links[index].own.last = end
        links[index].own.highest = max(links[index].own.highest, end)
        links[index].nextRead = now
        links[index].own.nextWrite = now
    }

    /// An earlier process has written this entry. A snapshot without an end has to be written again: who has read its
    /// beginning waits for the rest, and ignores earlier entries.
    mutating func recordOwn(_ entry: SharedEntry, _ id: UInt64, _ index: Int) {
        if entry.isFirst { (links[index].own.beginning, links[index].own.lastSnapshot) = (id, 0) }
        if entry.isLast { links[index].own.lastSnapshot = links[index].own.beginning }
    }

    private mutating func failed(
        _ question: RedisStreamState.Question, _ words: String, _ index: Int, _ blocks: inout BlockTables,
        now: Milliseconds
    ) -> [CoreAction] {
        switch question {
        // There is no such stream.
        case .end(let origin, let expected) where words.begins(with: "ERR no such key"):
            return ended(0, origin, expected, index, &blocks, now: now)
        case .add(let addition): return refused(addition, words, index, now: now)
        case .trim:
            return [.alarm(module: "nodes.\(settings.redis[index].label)", "not trimmed: \(words)", isOver: false)]
        // A wrong password, or commands that this user may not use.
        case .login, .time, .end, .read: return lose(index, words, rest: Self.rest, now: now)
        }
    }
}
