import KalijCore
import KalijStore
import KalijText

/// Where the next round begins: before the end of this round, because servers archive with a delay, but after messages that are
/// complete.
struct SyncCursor {
    /// The last message that a round has returned, and the progress of the round.
    struct End {
        let id: String?
        let at: Int64?
        /// The order number of the last message that is kept.
        let position: Int64
        /// The number of kept messages that the round has returned.
        let seen: Int64
    }

    /// Messages at a distance from the last message; the next round begins after the first of the two.
    private(set) var id: String?
    private(set) var next: String?
    /// The archive's stamp of ``next``, nil if unknown; and how many messages the round had returned at that time. A negative number n
    /// means that the two messages are pinned since the round had returned -n - 1 messages.
    private(set) var at: Int64?
    private(set) var seen: Int64
    /// The order number of ``id``, if it is available: a message that is not kept has no row to look it up.
    private(set) var position: Int64?
    /// The stamp up to which messages are complete: the archive inserts none between them any more (``ArchiveHorizon``). nil if it was
    /// not determined, or once the round has returned a later message.
    private(set) var quietUntil: Int64?

    /// How far a round begins before the end of the last round, at least: so many milliseconds by the archive's own stamps, or so many
    /// messages, in a busy archive. (Measured: ejabberd 23.01 on a busy machine archived messages up to 1.1 s and 91 messages late.)
    static let lateness: Int64 = 2000
    private static let messages: Int64 = 140
    /// The number of further messages after which a pin of an interrupted round is released.
    private static let maxPinLength: Int64 = 300

    init(_ row: Row) {
        id = row.optionalText("again_id")
        next = row.optionalText("again_next")
        at = row.optionalInteger("again_at")
        seen = row.integer("again_seen")
        position = row.optionalInteger("again_position")
        quietUntil = row.optionalInteger("quiet_until")
    }

    /// Resets the cursor: the round continues in another range.
    mutating func forget() { (id, next, at, position) = (nil, nil, nil, nil) }

    /// Records a returned message that is kept; `end` is the end with it.
    mutating func show(_ message: String, _ end: End) {
        guard next == nil || isFar(from: end) else { return }
        (id, next) = ((isPinned ? id : next) ?? message, message)
        (at, seen, position) = (end.at, end.seen, nil)
    }

    /// Whether no further message can have a place before ``next``.
    private func isFar(from end: End) -> Bool {
        if isPinned { return end.seen &+ seen &+ 1 >= Self.maxPinLength }
        guard end.seen &- seen < Self.messages else { return true }
        guard let last = end.at else { return false }
        guard let at else { return true }
        return last.subtractingReportingOverflow(at).partialValue >= Self.lateness
    }

    private var isPinned: Bool { seen < 0 }

    /// Pins the two messages when a round is interrupted and resumes at its cursor. The next round then finds messages that were
    /// archived late, before the cursor, because it begins as if this round had ended here.
    mutating func pin(_ end: End) {
        if !isPinned, next != nil { seen = -1 &- end.seen }
    }

    /// Called before `message` is recorded after `end`. If its id differs from the last id, all messages with the last id were
    /// returned.
    mutating func complete(_ end: End, before message: ArchivedMessage) {
        guard let quietUntil, message.id.exact != end.id?.exact else { return }
        guard let at = message.at, at >= end.at ?? .min else {
            // A stamp earlier than the last indicates that the clock was set, or that a message was archived late.
            self.quietUntil = nil
            return
        }
        complete(end)
        if at > quietUntil { self.quietUntil = nil }
    }

    /// The last message was returned, with all messages of the same id: the next round begins after it, if the archive inserts no
    /// message before it any more.
    mutating func complete(_ end: End) {
        guard let quietUntil, let last = end.id, let stamp = end.at, stamp <= quietUntil else { return }
        (id, next, at, seen, position) = (last, last, stamp, end.seen, end.position)
    }
}
