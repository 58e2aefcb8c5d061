import Synchronization

/// A life of `kalij run`.
struct Life: Sendable {
    /// Seconds since 1970, as in the server's log.
    var began: Double
    var killed: Double
    /// Rows of `queue` right after the kill; nil if the shell could not read them.
    var queued: Int?
}

/// The common counts of a run's parts.
final class Tally: Sendable {
    struct Counts: Sendable {
        var lives: [Life] = []
        var crashes = 0
        var accepted: Set<Int> = []
        var uncertain: Set<Int> = []
        var sendKills = 0
        var sendFailures = 0
        var restarts = 0
        /// Sessions made to be lost while messages had left and were not acknowledged.
        var lossesWithUnacknowledged = 0
    }

    private let state = Mutex(Counts())
    private let over = Atomic<Bool>(false)
    private let held = Atomic<Bool>(false)
    private let sending = Atomic<Bool>(false)

    var counts: Counts { state.withLock { $0 } }
    /// Whether all targets are reached and the senders should stop.
    var isOver: Bool { over.load(ordering: .relaxed) }

    func change(_ body: (inout Counts) -> Void) {
        state.withLock { body(&$0) }
    }

    func finish() {
        over.store(true, ordering: .relaxed)
    }

    /// Whether no `kalij send` is to run.
    var isHeld: Bool { held.load(ordering: .sequentiallyConsistent) }

    /// From now on no `kalij send` is started, and the running process is killed; returns afterwards.
    func hold() async {
        held.store(true, ordering: .sequentiallyConsistent)
        while sending.load(ordering: .sequentiallyConsistent), !Task.isCancelled {
            try? await sleep(for: .milliseconds(5))
        }
    }

    func letGo() {
        held.store(false, ordering: .sequentiallyConsistent)
    }

    /// Waits while sending is held; then ``hold()`` waits until ``endSending()``.
    func beginSending() async {
        while !Task.isCancelled {
            sending.store(true, ordering: .sequentiallyConsistent)
            if !held.load(ordering: .sequentiallyConsistent) || isOver { return }
            sending.store(false, ordering: .sequentiallyConsistent)
            try? await sleep(for: .milliseconds(5))
        }
    }

    func endSending() {
        sending.store(false, ordering: .sequentiallyConsistent)
    }
}
