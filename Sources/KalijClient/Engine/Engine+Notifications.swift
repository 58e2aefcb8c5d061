import KalijFeatures
import KalijRoles
import KalijStore
import KalijTransport

/// The notifications owed to the user.
extension Engine {
    /// The state of showing.
    struct Showing {
        /// Whether showing is planned for the loop's next turn.
        var isPlanned = false
        /// Whether the last try to show a notification failed.
        var hasFailed = false
        /// The timer of the next try.
        var again: Timer?
        var backoff = Backoff(base: 0.5, limit: 30)
    }

    /// Shows the owed notifications, in the loop's next turn.
    func planNotifications() {
        guard options.onNotification != nil || options.presenter != nil, !showing.isPlanned else { return }
        showing.isPlanned = true
        environment.loop.enqueue { [weak self] in self?.showPlanned() }
    }

    /// Shows at once what was planned for the loop's next turn, unless the turn came first.
    func showPlanned() {
        guard showing.isPlanned else { return }
        showing.isPlanned = false
        showNotifications()
    }

    /// Whether a task holds a notification, to show it.
    var isShowing: Bool { options.presenter?.isBusy ?? false }

    /// Whether a notification is still owed because it could not be shown.
    var owesNotifications: Bool { showing.hasFailed || options.presenter?.hasFailed ?? false }

    private func showNotifications() {
        do {
            if let show = options.onNotification { showing.hasFailed = try !showAll(show) }
            try options.presenter?.serve(NotificationOutbox(database: database), fence)
        } catch {
            // Notifications were perhaps not shown, or not marked: the same notifications come again, under the same
            // identifiers.
            showing.hasFailed = true
        }
        if owesNotifications { showAgainLater() } else { showing.backoff.reset() }
    }

    /// - Returns: whether all notifications could be shown.
    private func showAll(_ show: (Notification) throws -> Void) throws -> Bool {
        let outbox = NotificationOutbox(database: database)
        let entries = try outbox.pending(limit: 100)
        guard !entries.isEmpty else { return true }
        // If another process drives by now, that process shows the notifications.
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

    /// Tries failed notifications again. If this process ends first, the next process tries.
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
