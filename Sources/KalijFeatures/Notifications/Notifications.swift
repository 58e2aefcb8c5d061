/// The user's notifications, as an asynchronous sequence that ends with the engine.
///
/// A notification is marked as shown when the loop requests the next one: show the notification in the body of the loop, and wait
/// there until the system has accepted it. If the process dies in between, the next process delivers the same notification again;
/// because of the same ``Notification/identifier``, the new notification replaces the shown one. A `wake` does not end while a loop
/// holds a notification, until the budget of the `wake` is spent.
///
/// If a notification cannot be shown, call ``notShown(_:)`` before the loop requests the next: the notification remains pending, and
/// is redelivered after a while, or by the next process.
///
/// Several loops share the notifications: each loop receives some of them.
public struct Notifications: AsyncSequence, Sendable {
    public typealias Element = Notification
    public typealias Failure = Never
    package let presenter: NotificationPresenter

    package init(presenter: NotificationPresenter) { self.presenter = presenter }

    /// Reports that `notification`, held by a loop, could not be shown. It is not marked as shown when the loop continues; other
    /// notifications are delivered in the meantime. An engine that ends with such a notification ends as ``Engine/Ending/unfinished``.
    public func notShown(_ notification: Notification) { presenter.fail(notification) }

    /// Reports that `notification`, held by a loop, is shown under `handle`, such as the number that the desktop has assigned. The
    /// handle is stored for the conversation when the loop requests the next notification
    /// (`ConversationNotification`): the next process can replace and withdraw the shown notification.
    public func shown(_ notification: Notification, handle: String) { presenter.shown(notification, handle: handle) }

    /// Begins a loop.
    public func makeAsyncIterator() -> Iterator { Iterator(consumer: NotificationPresenter.Consumer(presenter)) }

    /// An iteration over the notifications.
    public struct Iterator: AsyncIteratorProtocol {
        public typealias Failure = Never
        let consumer: NotificationPresenter.Consumer

        /// Marks the previous notification as shown, unless ``Notifications/notShown(_:)`` was called, and waits for the next one; nil
        /// once the engine has ended, or if the task is cancelled.
        public mutating func next() async -> Notification? { await consumer.next() }
    }
}
