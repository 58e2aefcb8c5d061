import KalijFeatures
import KalijCoordination
import KalijStore
import KalijTransport

/// The pending notifications for the user.
extension Engine {
    /// The state of the delivery of notifications.
    struct Showing {
        /// Whether delivery is scheduled for the loop's next turn.
        var isPlanned = false
        /// Whether the last attempt to show a notification failed.
        var hasFailed = false
        /// The timer of the next attempt.
        var again: Timer?
        var backoff = Backoff(base: 0.5, limit: 30)
    }

    /// Schedules the pending notifications for the loop's next turn.
    func planNotifications() {
        guard options.onNotification != nil || options.presenter != nil, !showing.isPlanned else { return }
        showing.isPlanned = true
        environment.loop.enqueue { [weak self] in self?.showPlanned() }
    }

    /// Shows scheduled notifications at once, unless the loop has already shown them.
    func showPlanned() {
        guard showing.isPlanned else { return }
        showing.isPlanned = false
        showNotifications()
    }

    /// Whether a task is showing a notification.
    var isShowing: Bool { options.presenter?.isBusy ?? false }

    /// Whether a notification is still pending because it could not be shown.
    var owesNotifications: Bool { showing.hasFailed || options.presenter?.hasFailed ?? false }

    private func showNotifications() {
        do {
            if let show = options.onNotification { showing.hasFailed = try !showAll(show) }
            try options.presenter?.serve(NotificationOutbox(database: database), fence)
        } catch {
            // Notifications may not have been shown, or not been marked: they are delivered again, under the same identifiers.
            showing.hasFailed = true
        }
        if owesNotifications { showAgainLater() } else { showing.backoff.reset() }
    }

    /// - Returns: whether all notifications could be shown.
    private func showAll(_ show: (Notification) throws -> Void) throws -> Bool {
        let outbox = NotificationOutbox(database: database)
        let entries = try outbox.pending(limit: 100)
        guard !entries.isEmpty else { return true }
        // If another process has taken over, that process shows the notifications.
        try database.transaction {
            try fence.check(database)
            try outbox.begin(entries)
        }
        let shown = entries.filter { entry in
            do { try show(entry.notification) } catch { return false }
            return true
        }
        try database.transaction {
            try fence.check(database)
            try outbox.done(shown)
        }
        guard shown.count == entries.count else { return false }
        planNotifications()
        return true
    }

    /// Retries failed notifications. If this process ends first, the next process retries.
    private func showAgainLater() {
        guard showing.again == nil else { return }
        let delay = showing.backoff.next(random: environment.random())
        showing.again = environment.loop.schedule(after: delay) { [weak self] in
            self?.showing.again = nil
            self?.options.presenter?.retry()
            self?.planNotifications()
        }
    }

    /// Marks the notifications that tasks have shown, for the last time.
    func markShown() { try? options.presenter?.settle(NotificationOutbox(database: database), fence) }
}
