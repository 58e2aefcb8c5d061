import KalijRoles
import KalijStore

/// What is owed to the user.
extension Engine {
    /// Shows what is owed to the user, in the loop's next turn.
    func planNotifications() {
        guard options.onNotification != nil || options.desk != nil, !areNotificationsPlanned else { return }
        areNotificationsPlanned = true
        ground.loop.enqueue { [weak self] in self?.showPlanned() }
    }

    /// Shows what was planned to be shown in the loop's next turn, if it was not since.
    func showPlanned() {
        guard areNotificationsPlanned else { return }
        areNotificationsPlanned = false
        showNotifications()
    }

    /// Whether a notification is in the hands of a task that shows it.
    var isShowing: Bool { options.desk?.isBusy ?? false }

    private func showNotifications() {
        do {
            if let show = options.onNotification { try showAll(show) }
            try options.desk?.serve(NotificationOutbox(database: database), fence)
        } catch {
            // They are shown again by the next process, or with the next one.
        }
    }

    private func showAll(_ show: (Notification) -> Void) throws {
        let outbox = NotificationOutbox(database: database)
        let entries = try outbox.pending(limit: 100)
        guard !entries.isEmpty else { return }
        // What another process was to show, because it drives by now, it shows.
        try database.transaction {
            try fence.check(database)
            try outbox.begin(entries)
        }
        entries.forEach { show($0.notification) }
        try database.transaction {
            try fence.check(database)
            try outbox.done(entries)
        }
        planNotifications()
    }

    /// Marks what tasks have shown, for the last time.
    func markShown() { try? options.desk?.settle(NotificationOutbox(database: database), fence) }
}
