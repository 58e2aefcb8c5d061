/// The requests outstanding at one server, and the state of this node's stream there. No socket and no clock: replies with their
/// times are the input, and commands are the output.
struct RedisStreamState: Sendable {
    enum Phase: Sendable, Equatable {
        case down
        /// Connected; the server is queried for the end of this node's stream.
        case starting
        case up
    }

    /// An outstanding request.
    enum Question: Sendable {
        case login
        /// At a time of the wall clock.
        case time(wall: Milliseconds)
        /// The query for the end of a node's stream, with the end that this node expects for its own.
        case end(origin: UInt16, expected: UInt64)
        case add(Addition)
        case trim
        case read([UInt16])
    }

    /// An entry that is being appended to this node's stream.
    struct Addition: Sendable {
        var id: UInt64
        var records: [(key: SharedKey, version: UInt64)]
        var isLast: Bool
    }

    /// An entry read, and not taken yet.
    struct Reading: Sendable {
        var origin: UInt16
        var id: UInt64
        var value: [UInt8]
    }

    /// All records of this node, written once more.
    struct Snapshot: Sendable {
        /// Parts of the tokens' table, then of the domains'.
        var part = 0
        var records: [SharedKey] = []
        var first: UInt64 = 0
        var isWritten = false
    }

    /// This node's own stream at the server.
    struct OwnStream: Sendable {
        /// Whether the stream was read to its end, once in each process.
        var isRead = false
        var hasMore = false
        /// Entries that were in flight when a connection was lost.
        var unsettled: [Addition] = []
        /// The last entry that is confirmed to be in the stream.
        var last: UInt64 = 0
        /// The last entry in flight, or ``last``.
        var chain: UInt64 = 0
        /// The highest id ever used.
        var highest: UInt64 = 0
        var outbox = FIFO<SharedKey>()
        /// The next part of the tables to be searched for records that the server does not have; nil for no search.
        var search: Int?
        var nextSearch: Milliseconds = .max
        var snapshot: Snapshot?
        var nextSnapshot: Milliseconds = 0
        /// The first entry of the stream's latest snapshot; 0 if the snapshot has no end.
        var lastSnapshot: UInt64 = 0
        /// The first entry of the snapshot that is being read.
        var beginning: UInt64 = 0
        /// When the server was last found to have another stream than this node has written.
        var strangeAt: Milliseconds = .min
        /// Whether the server has refused the last entry.
        var isRefused = false
        var nextWrite: Milliseconds = 0
        var lastWrite: Milliseconds = 0
    }

    let number: Int
    var phase = Phase.down
    var awaited = FIFO<(question: Question, at: Milliseconds)>()
    var login: RedisCommand?

    // Reading.
    var positions: [UInt16: UInt64] = [:]
    var inbox = FIFO<Reading>()
    var nextRead: Milliseconds = 0
    var nextEnds: Milliseconds = 0
    /// Since when a stream's beginning may be read again.
    var rereadAt: [UInt16: Milliseconds] = [:]
    /// Streams that are to be read again from the beginning.
    var gaps: Set<UInt16> = []

    var own = OwnStream()

    /// Since when the link is up.
    var upSince: Milliseconds = 0
    /// How far this node's clock is ahead of the server's.
    var clockOffset: Milliseconds?

    init(number: Int) { self.number = number }

    var bit: UInt8 { 1 << UInt8(truncatingIfNeeded: number) }
    var isUp: Bool { phase == .up }

    /// Entries in flight.
    var additions: Int {
        awaited.all.reduce(0) { if case .add = $1.question { $0 + 1 } else { $0 } }
    }

    private var isReadingEntries: Bool {
        awaited.all.contains { if case .read = $0.question { true } else { false } }
    }

    /// When new entries are to be requested; nil while the last ones are not taken.
    var readsAt: Milliseconds? { inbox.count == 0 && !isReadingEntries ? nextRead : nil }

    /// When the next entry may be written; nil while entries are in flight.
    var writesAt: Milliseconds? {
        let isInSnapshot = own.snapshot.map { !$0.isWritten } ?? false
        return additions < (isInSnapshot ? Self.together : 1) ? own.nextWrite : nil
    }

    /// The most entries of a snapshot in flight.
    private static let together = 4
}
