import KalijCore
import KalijCoordination
import KalijStore
import Synchronization

/// Connects the tasks that show notifications with the engine's thread, which reads notifications from the outbox, and marks the shown
/// ones.
package final class NotificationPresenter: Sendable {

    package init() {
    }
    package typealias Entry = NotificationOutbox.Entry

    private struct State {
        package var last = 0
        /// The entry held by each consumer: a notification that is being shown.
        package var held: [Int: Entry] = [:]
        package var waiting: [Int: CheckedContinuation<Notification?, Never>] = [:]
        /// Shown entries that are not marked yet.
        package var shown: [Entry] = []
        /// Rows of notifications that could not be shown and wait for a retry.
        package var failed: Set<Int64> = []
        package var isEnded = false
        package var ring: @Sendable () -> Void = {}
    }

    private let state = Mutex(State())

    /// The consumer's end of the connection, one for each loop.
    final class Consumer: Sendable {
        private let presenter: NotificationPresenter
        private let number: Int

        package init(_ presenter: NotificationPresenter) {
            self.presenter = presenter
            number = presenter.state.withLock { state in
                state.last += 1
                return state.last
            }
        }

        // The loop has ended, and may not have shown its notification.
        deinit { presenter.putBack(number) }

        package func next() async -> Notification? {
            await withTaskCancellationHandler {
                await withCheckedContinuation { presenter.enqueue(number, $0) }
            } onCancel: {
                presenter.cancel(number)
            }
        }
    }

    // MARK: Consumers

    private func enqueue(_ consumer: Int, _ continuation: CheckedContinuation<Notification?, Never>) {
        let (over, ring) = state.withLock { state in
            if let entry = state.held.removeValue(forKey: consumer) { state.shown.append(entry) }
            var over: [CheckedContinuation<Notification?, Never>] = []
            if state.isEnded || Task.isCancelled {
                over.append(continuation)
            } else if let other = state.waiting.updateValue(continuation, forKey: consumer) {
                over.append(other)
            }
            return (over, state.ring)
        }
        over.forEach { $0.resume(returning: nil) }
        ring()
    }

    private func cancel(_ consumer: Int) {
        state.withLock { $0.waiting.removeValue(forKey: consumer) }?.resume(returning: nil)
    }

    private func putBack(_ consumer: Int) {
        let ring = state.withLock { state in state.held.removeValue(forKey: consumer) == nil ? {} : state.ring }
        ring()
    }

    /// Records that a consumer could not show `notification`.
    package func fail(_ notification: Notification) {
        let ring = state.withLock { state in
            guard let (consumer, entry) = state.held.first(where: { $0.value.notification == notification }) else {
                return {}
            }
            state.held[consumer] = nil
            state.failed.insert(entry.id)
            return state.ring
        }
        ring()
    }

    /// Records the handle of the notification that a consumer has shown for `notification`.
    package func shown(_ notification: Notification, handle: String) {
        state.withLock { state in
            let consumer = state.held.first { $0.value.notification == notification }?.key
            if let consumer { state.held[consumer]?.handle = handle }
        }
    }

    // MARK: Engine

    /// Opens the connection: `ring` calls the engine after a notification was shown or requested.
    package func open(ring: @escaping @Sendable () -> Void) { state.withLock { $0.ring = ring } }

    /// Detaches an engine that is to be replaced: consumers continue to wait.
    package func pause() { state.withLock { $0.ring = {} } }

    /// Ends all loops: no further engine will drive.
    package func end() {
        let waiting = state.withLock { state in
            state.isEnded = true
            state.ring = {}
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        waiting.forEach { $0.resume(returning: nil) }
    }

    /// Whether a notification is being shown, or was shown and is not marked yet.
    package var isBusy: Bool { state.withLock { !$0.held.isEmpty || !$0.shown.isEmpty } }

    /// Whether a notification could not be shown and waits for a retry.
    package var hasFailed: Bool { state.withLock { !$0.failed.isEmpty } }

    /// Makes notifications eligible again that could not be shown.
    package func retry() { state.withLock { $0.failed = [] } }

    /// Whether a consumer waits for a notification.
    var isAwaited: Bool { state.withLock { !$0.waiting.isEmpty } }

    /// Marks the shown notifications.
    /// - Throws: `FenceError.stale`, `StoreError`; the notifications are marked at the next call.
    package func settle(_ outbox: NotificationOutbox, _ fence: Fence) throws {
        let shown = state.withLock { $0.shown }
        guard !shown.isEmpty else { return }
        try outbox.database.transaction {
            try fence.check(outbox.database)
            try outbox.done(shown)
        }
        state.withLock { $0.shown.removeFirst(shown.count) }
    }

    /// Marks the shown notifications, and delivers pending notifications to waiting consumers.
    package func serve(_ outbox: NotificationOutbox, _ fence: Fence) throws {
        try settle(outbox, fence)
        let (wanted, held) = state.withLock { ($0.waiting.count, $0.failed.union($0.held.values.map(\.id))) }
        guard wanted > 0 else { return }
        let entries = try outbox.pending(limit: wanted + held.count).filter { !held.contains($0.id) }
        guard !entries.isEmpty else { return }
        // If another process drives by now, that process shows the notifications.
        try outbox.database.transaction {
            try fence.check(outbox.database)
            try outbox.begin(entries)
        }
        entries.forEach(deliver)
    }

    private func deliver(_ entry: Entry) {
        let waiting = state.withLock { state -> CheckedContinuation<Notification?, Never>? in
            // The consumer that was created first; if none waits any more, the entry remains pending.
            guard let consumer = state.waiting.keys.min() else { return nil }
            state.held[consumer] = entry
            return state.waiting.removeValue(forKey: consumer)
        }
        waiting?.resume(returning: entry.notification)
    }
}
