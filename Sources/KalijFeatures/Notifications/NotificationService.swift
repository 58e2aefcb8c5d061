import KalijCore
import KalijCoordination
import KalijStore
import KalijTransport

/// How the application shows notifications: in a call, or in tasks that wait for them.
package struct NotificationOutput {
    /// Shows a notification; an error means that it could not be shown.
    package var show: ((Notification) throws -> Void)?
    /// Passes notifications to tasks.
    package var presenter: NotificationPresenter?

    package init() {}

    /// The feature whose service delivers the notifications (``Step/signal(_:)``).
    package static var feature: any ServiceProvider.Type { NotificationsFeature.self }

    package var isEmpty: Bool { show == nil && presenter == nil }
}

/// Delivers the pending notifications to the application.
final class NotificationService: FeatureService {
    private let host: any ServiceHost
    private let output: NotificationOutput
    /// Whether delivery is scheduled for the loop's next turn.
    private var isPlanned = false
    /// Whether the last attempt to show a notification failed.
    private var showFailed = false
    /// The timer of the next attempt.
    private var retryTimer: Timer?
    private var backoff = Backoff(base: 0.5, limit: 30)

    init(_ host: any ServiceHost, _ output: NotificationOutput) { (self.host, self.output) = (host, output) }

    private var database: Database { host.runner.database }

    /// Whether a task is showing a notification.
    var isBusy: Bool { output.presenter?.isBusy ?? false }

    /// Whether a notification is still pending because it could not be shown.
    var hasFailed: Bool { showFailed || output.presenter?.hasFailed ?? false }

    /// Schedules the pending notifications for the loop's next turn.
    func start() {
        guard !isPlanned else { return }
        isPlanned = true
        host.loop.enqueue { [weak self] in self?.inboxDidEmpty() }
    }

    func stepDidCommit(_ effects: Step.Effects, isSignalled: Bool) { if isSignalled { start() } }

    /// Shows scheduled notifications at once, unless the loop has already shown them: a notification is due once the step is
    /// committed, and makes no claim to the server.
    func inboxDidEmpty() {
        guard isPlanned else { return }
        isPlanned = false
        showNotifications()
    }

    private func showNotifications() {
        do {
            if let show = output.show { showFailed = try !showAll(show) }
            try output.presenter?.serve(NotificationOutbox(database: database), host.runner.fence)
        } catch {
            // Notifications may not have been shown, or not been marked: they are delivered again, under the same identifiers.
            showFailed = true
        }
        if hasFailed { scheduleRetry() } else { backoff.reset() }
    }

    /// - Returns: whether all notifications could be shown.
    private func showAll(_ show: (Notification) throws -> Void) throws -> Bool {
        let outbox = NotificationOutbox(database: database)
        let entries = try outbox.pending(limit: 100)
        guard !entries.isEmpty else { return true }
        // If another process has taken over, that process shows the notifications.
        try database.transaction {
            try host.runner.checkFence()
            try outbox.begin(entries)
        }
        let shown = entries.filter { entry in
            do { try show(entry.notification) } catch { return false }
            return true
        }
        try database.transaction {
            try host.runner.checkFence()
            try outbox.done(shown)
        }
        guard shown.count == entries.count else { return false }
        start()
        return true
    }

    /// Retries failed notifications. If this process ends first, the next process retries.
    private func scheduleRetry() {
        guard retryTimer == nil else { return }
        let delay = backoff.next(random: host.random())
        retryTimer = host.loop.schedule(after: delay) { [weak self] in
            self?.retryTimer = nil
            self?.output.presenter?.retry()
            self?.start()
        }
    }

    /// Marks the notifications that tasks have shown, for the last time.
    func finish() { try? output.presenter?.settle(NotificationOutbox(database: database), host.runner.fence) }
}
