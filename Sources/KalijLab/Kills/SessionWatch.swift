import Synchronization

/// Follows an account's sessions in the server's log, with the moment of reading for each event.
final class SessionWatch: Sendable {
    private struct State {
        var reader: any SessionLogReader
        var seen: [SeenEvent] = []
        /// When another client used the account.
        var foreign: [ClosedRange<Double>] = []
        var foreignSince: Double?
    }

    private let state: Mutex<State>

    init(reader: any SessionLogReader) {
        state = Mutex(State(reader: reader))
    }

    /// Reads the log every 5 ms until cancelled.
    func follow() async {
        while !Task.isCancelled {
            look()
            try? await sleep(for: .milliseconds(5))
        }
        look()
    }

    /// Everything seen so far.
    var events: [SeenEvent] {
        state.withLock { state in
            state.seen.filter { one in one.event != .bound || !state.foreign.contains { $0.contains(one.at) } }
        }
    }

    /// From now on, or no longer, another client may bind a resource of the account.
    func ignoreBinds(_ begins: Bool) {
        state.withLock { state in
            let now = wallClock()
            if begins {
                state.foreignSince = now
            } else if let since = state.foreignSince {
                state.foreign.append(since...max(since, now))
            }
        }
    }

    /// Whether a session was ever bound.
    var hasBound: Bool {
        state.withLock { $0.seen.contains { $0.event == .bound } }
    }

    /// Waits until the server no longer permits the last session to be resumed; the process that had the session is dead.
    /// - Throws: ``LaboratoryError`` if the server keeps the session.
    func untilLost() async throws {
        let deadline = ContinuousClock.now + .seconds(hungAfter)
        while state.withLock({ $0.seen.last { $0.event != .refused }?.event.isLoss == false }) {
            guard ContinuousClock.now < deadline else { throw LaboratoryError("the server keeps a session for ever") }
            try await sleep(for: .milliseconds(20))
        }
    }

    private func look() {
        state.withLock { state in
            state.seen += state.reader.newEvents()
        }
    }
}
