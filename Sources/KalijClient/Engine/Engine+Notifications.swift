import KalijFeatures
import KalijRoles
import KalijStore
import KalijTransport

/// What is owed to the user.
extension Engine {
    /// How the showing stands.
    struct Showing {
        /// Whether it is done in the loop's next turn.
        var isPlanned = false
        /// Whether something could not be shown, the last time that it was tried.
        var hasFailed = false
        /// When that is tried again.
        var again: Timer?
        var backoff = Backoff(base: 0.5, limit: 30)
    }

    /// Shows what is owed to the user, in the loop's next turn.
    func planNotifications() {
        guard options.onNotification != nil || options.desk != nil, !showing.isPlanned else { return }
        showing.isPlanned = true
        ground.loop.enqueue { [weak self] in self?.showPlanned() }
    }

    /// Shows what was planned to be shown in the loop's next turn, if it was not since.
    func showPlanned() {
        guard showing.isPlanned else { return }
        showing.isPlanned = false
        showNotifications()
    }

    /// Whether a notification is in the hands of a task that shows it.
    var isShowing: Bool { options.desk?.isBusy ?? false }

    /// Whether something is still owed because it could not be shown.
    var owesNotifications: Bool { showing.hasFailed || options.desk?.hasFailed ?? false }

    private func showNotifications() {
        do {
            if let show = options.onNotification { showing.hasFailed = try !showAll(show) }
            try options.desk?.serve(NotificationOutbox(database: database), fence)
        } catch {
            // It was perhaps not shown, or not marked: the same again, under the same identifiers.
            showing.hasFailed = true
        }
        if owesNotifications { showAgainLater() } else { showing.backoff.reset() }
    }

    /// - Returns: whether everything could be shown.
    private func showAll(_ show: (Notification) throws -> Void) throws -> Bool {
        let outbox = NotificationOutbox(database: database)
        let entries = try outbox.pending(limit: 100)
        guard !entries.isEmpty else { return true }
        // What another process was to show, because it drives by now, it shows.
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

    /// Tries again what could not be shown. If this process ends before, the next one does.
    private func showAgainLater() {
        guard showing.again == nil else { return }
        let delay = showing.backoff.next(random: ground.random())
        showing.again = ground.loop.schedule(after: delay) { [weak self] in
            self?.showing.again = nil
            self?.options.desk?.retry()
            self?.planNotifications()
        }
    }

    /// Marks what tasks have shown, for the last time.
    func markShown() { try? options.desk?.settle(NotificationOutbox(database: database), fence) }
}
