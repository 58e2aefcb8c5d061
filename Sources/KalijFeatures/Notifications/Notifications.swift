/// What the user is to be notified of, as an asynchronous sequence that ends with the engine.
///
/// What a loop gets is done once the loop asks for the next: show it in the body of the loop, and wait there until the system
/// has taken it. If the process dies in between, the next one gets the same notification again, and as its
/// ``Notification/identifier`` is the same it replaces what was shown. A `wake` does not end while one is in the hands of a
/// loop, until its budget does.
///
/// If a notification cannot be shown, say so (``notShown(_:)``) before the loop asks for the next: it is still owed, and comes
/// again after a while, or from the next process.
///
/// Several loops share the notifications: each gets some of them.
public struct Notifications: AsyncSequence, Sendable {
    public typealias Element = Notification
    public typealias Failure = Never
    package let desk: NotificationDesk

    package init(desk: NotificationDesk) { self.desk = desk }

    /// Says that `notification`, which a loop has in its hands, could not be shown. It is not marked as shown when the loop goes
    /// on; other notifications come meanwhile. An engine that ends with such a one ends as ``Engine/Ending/unfinished``.
    public func notShown(_ notification: Notification) { desk.fail(notification) }

    /// Begins a loop.
    public func makeAsyncIterator() -> Iterator { Iterator(hand: NotificationDesk.Hand(desk)) }

    /// One loop over the notifications.
    public struct Iterator: AsyncIteratorProtocol {
        public typealias Failure = Never
        let hand: NotificationDesk.Hand

        /// Says that the one before was shown, unless ``Notifications/notShown(_:)`` has said that it was not, and waits for the next; nil once the engine has ended, or if the task is
        /// cancelled.
        public mutating func next() async -> Notification? { await hand.next() }
    }
}
