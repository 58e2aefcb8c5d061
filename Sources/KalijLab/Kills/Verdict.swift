/// The verdict about the messages of a direction.
public struct DirectionVerdict: Codable, Sendable, Equatable {
    /// Messages that must be there: archived by the server (in), accepted with exit status 0 (out).
    public var expected = 0
    /// Sent by a `kalij send` that was killed before its exit status, and found nevertheless.
    public var unconfirmed = 0
    /// Different messages found: in the raw table (in), in the server's archive (out).
    public var found = 0
    /// Expected and not found.
    public var lost = 0
    /// Found more than once: surplus copies.
    public var twice = 0
    /// Found directly after a message that should follow it.
    public var outOfOrder = 0
    /// Found although nobody sent such a message.
    public var invented = 0
    /// Delivered and found, but missing in the server's archive: the server's fault, counted for information.
    public var unarchived = 0
    /// Lost by the server, counted for information: in the sender's archive, but missing in the recipient's, because
    /// the server was ended; or, without archives, dropped with a lost session.
    public var undelivered = 0
    /// Not found, and reported to be of unknown outcome.
    public var unknown = 0

    /// Figures; 0 unless given.
    public init(expected: Int = 0, unconfirmed: Int = 0, found: Int = 0) {
        self.expected = expected
        self.unconfirmed = unconfirmed
        self.found = found
    }

    /// Whether nothing is wrong.
    public var isClean: Bool { lost == 0 && twice == 0 && outOfOrder == 0 && invented == 0 }

    static func += (sum: inout DirectionVerdict, more: DirectionVerdict) {
        sum.expected += more.expected
        sum.unconfirmed += more.unconfirmed
        sum.found += more.found
        sum.lost += more.lost
        sum.twice += more.twice
        sum.outOfOrder += more.outOfOrder
        sum.invented += more.invented
        sum.unarchived += more.unarchived
        sum.undelivered += more.undelivered
        sum.unknown += more.unknown
    }
}

/// The evidence compared at the end of a run. No field is from Kalij: an independent client reads the server's archives, the
/// sqlite3 shell reads the raw table, and the rest are exit statuses.
public struct Evidence: Sendable {
    /// The archive of Kalij's account.
    public var ownArchive: [ArchiveEntry]
    /// The archive of the account at the other end.
    public var peerArchive: [ArchiveEntry]
    /// How many messages the other side handed to the server: the numbers from 1 to this number.
    public var offered: Int
    /// Rows of received messages by position.
    public var received: [StoredMessage]
    /// Bodies of the messages that the other side received live.
    public var heard: [String]
    /// Numbers of the replies accepted by `send` (exit status 0).
    public var accepted: Set<Int>
    /// Numbers of the replies whose `send` was killed or failed: each may be there, once, or not.
    public var uncertain: Set<Int>
    /// Texts of the replies with an unknown outcome: each may be there, once, or not.
    public var unknown: Set<String>
    /// Whether the archives keep everything.
    public var isArchived: Bool

    public init(
        ownArchive: [ArchiveEntry], peerArchive: [ArchiveEntry], offered: Int, received: [StoredMessage],
        heard: [String], accepted: Set<Int>, uncertain: Set<Int>, unknown: Set<String> = [], isArchived: Bool = true
    ) {
        self.unknown = unknown
        self.isArchived = isArchived
        self.ownArchive = ownArchive
        self.peerArchive = peerArchive
        self.offered = offered
        self.received = received
        self.heard = heard
        self.accepted = accepted
        self.uncertain = uncertain
    }

    /// Received messages: all messages of the archive, each once, in the archive's order.
    public func incoming() -> DirectionVerdict {
        // Without an archive the order is the order of arrival, and it is unknown which messages the server has delivered.
        let stored = received.compactMap { numberIn($0.body, label: "m") }
        let order = isArchived ? ownArchive.compactMap { numberIn($0.body, label: "m") } : Array(1...max(1, offered))
        var place: [Int: Int] = [:]
        for (index, number) in order.enumerated() where place[number] == nil { place[number] = index }
        let different = Set(stored)
        var verdict = DirectionVerdict()
        verdict.expected = place.count
        verdict.found = different.count
        let missing = place.keys.count { !different.contains($0) }
        if isArchived { verdict.lost = missing } else { verdict.undelivered = missing }
        verdict.twice = stored.count - verdict.found
        verdict.invented = different.count { $0 < 1 || $0 > offered } + (received.count - stored.count)
        verdict.unarchived = different.count { place[$0] == nil }
        verdict.outOfOrder = isArchived ? descents(stored.compactMap { place[$0] }) : 0
        return verdict
    }

    /// Sent messages: every accepted message in the other account's archive, each once, in the order accepted.
    ///
    /// Unless the server was ended, the other side was online all the time, so each message arrived there live once,
    /// too. A server that was ended may have archived a message for its sender and not for the recipient (measured:
    /// ejabberd 23.01): the message was sent, once, and the server lost it.
    public func outgoing() -> DirectionVerdict {
        let archived = peerArchive.compactMap { numberIn($0.body, label: "r") }
        let live = heard.compactMap { numberIn($0, label: "r") }
        let inArchive = Set(archived)
        let different = inArchive.union(live)
        var verdict = DirectionVerdict()
        verdict.expected = accepted.count
        verdict.found = different.count
        let taken = ownArchive.compactMap { numberIn($0.body, label: "r") }
        let reported = Set(unknown.compactMap { numberIn($0, label: "r") })
        let missing = accepted.filter { !different.contains($0) && !reported.contains($0) }
        verdict.unknown = reported.count { !different.contains($0) }
        verdict.undelivered = missing.intersection(taken).count
        verdict.lost = missing.count - verdict.undelivered
        verdict.twice = max(
            archived.count - inArchive.count, live.count - Set(live).count, taken.count - Set(taken).count)
        verdict.invented = different.count { !accepted.contains($0) && !uncertain.contains($0) }
        verdict.unarchived = isArchived ? different.count - inArchive.count : 0
        verdict.unconfirmed = uncertain.count { different.contains($0) }
        verdict.outOfOrder = descents(isArchived ? archived : live)
        return verdict
    }
}

/// The number in a body like "m 17"; nil for anything else.
func numberIn(_ body: String?, label: String) -> Int? {
    guard let body, body.hasPrefix(label + " ") else { return nil }
    return Int(body.dropFirst(label.count + 1))
}

/// How many elements are smaller than the element before. Equal neighbours are copies, counted elsewhere.
private func descents(_ numbers: [Int]) -> Int {
    zip(numbers, numbers.dropFirst()).count { $0 > $1 }
}
