/// The user's notifications, as an asynchronous sequence that ends with the engine.
///
/// A notification is done when the loop asks for the next: show the notification in the body of the loop, and wait
/// there until the system has taken it. If the process dies in between, the next process gets the same notification
/// again; because of the same ``Notification/identifier``, the new notification replaces the shown notification. A
/// `wake` does not end while a loop holds a notification, until the budget of the `wake` is spent.
///
/// If a notification cannot be shown, call ``notShown(_:)`` before the loop asks for the next: the notification is
/// still owed, and comes again after a while, or from the next process.
///
/// Several loops share the notifications: each loop gets some of them.
public struct Notifications: AsyncSequence, Sendable {
    public typealias Element = Notification
    public typealias Failure = Never
    package let presenter: NotificationPresenter

    package init(presenter: NotificationPresenter) { self.presenter = presenter }

    /// Says that `notification`, held by a loop, could not be shown. The notification is not marked as shown when the
    /// loop goes on; other notifications come meanwhile. An engine that ends with such a notification ends as
    /// ``Engine/Ending/unfinished``.
    public func notShown(_ notification: Notification) { presenter.fail(notification) }

    /// Begins a loop.
    public func makeAsyncIterator() -> Iterator { Iterator(consumer: NotificationPresenter.Consumer(presenter)) }

    /// One loop over the notifications.
    public struct Iterator: AsyncIteratorProtocol {
        public typealias Failure = Never
        let consumer: NotificationPresenter.Consumer

        /// Says that the previous notification was shown, unless ``Notifications/notShown(_:)`` was called, and waits
        /// for the next; nil once the engine has ended, or if the task is cancelled.
        public mutating func next() async -> Notification? { await consumer.next() }
    }
}
