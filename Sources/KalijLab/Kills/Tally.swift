import Synchronization

/// One life of `kalij run`.
struct Life: Sendable {
    /// Seconds since 1970, as in the server's log.
    var began: Double
    var killed: Double
    /// Rows of `queue` right after the kill; nil if the shell could not look.
    var queued: Int?
}

/// What the parts of a run count together.
final class Tally: Sendable {
    struct Counts: Sendable {
        var lives: [Life] = []
        var crashes = 0
        var accepted: Set<Int> = []
        var uncertain: Set<Int> = []
        var sendKills = 0
        var sendFailures = 0
    }

    private let state = Mutex(Counts())
    private let over = Atomic<Bool>(false)

    var counts: Counts { state.withLock { $0 } }
    /// Whether all targets are reached and the senders should stop.
    var isOver: Bool { over.load(ordering: .relaxed) }

    func change(_ body: (inout Counts) -> Void) {
        state.withLock { body(&$0) }
    }

    func finish() {
        over.store(true, ordering: .relaxed)
    }
}
