import Dispatch
import FoundationEssentials
import KalijCoordination
import KalijCore

/// An element of ``DirectoryChanges``.
public enum DirectoryNews: Sendable, Equatable {
    /// Any part may have changed: at the start, and after changes that a slow loop has missed.
    case everything
    /// One part has changed.
    case changed(DirectoryChange)
}

/// The changes of a directory's displayed content, as an asynchronous sequence for one loop. The driver publishes them after each
/// commit, whether it is this process or another one. That writes no database page, and requires no polling.
///
/// The sequence ends when the driver releases the fence or dies, and when the task is cancelled. Changes within 50 ms are
/// coalesced, each reported once. The driver does not wait for a slow loop.
public struct DirectoryChanges: AsyncSequence, Sendable {
    public typealias Element = DirectoryNews
    public typealias Failure = Never
    let reader: LineReader

    /// Subscribes to all changes from now on; the first element is ``DirectoryNews/everything``. Nil if no process drives
    /// `directory`, or the driver is still starting.
    public init?(_ directory: AccountDirectory) {
        guard let subscription = Doorbell.changes(directory: directory.path) else { return nil }
        reader = LineReader(subscription)
    }

    public func makeAsyncIterator() -> Iterator { Iterator(reader: reader) }

    /// Requests that the driver connect all accounts that wait for their next attempt.
    public func connectNow() { reader.subscription.connectNow() }

    /// The loop over the changes.
    public struct Iterator: AsyncIteratorProtocol {
        public typealias Failure = Never
        let reader: LineReader
        private var lines: ArraySlice<[UInt8]> = []

        init(reader: LineReader) { self.reader = reader }

        /// The next change; nil once the driver has ended, or if the task is cancelled.
        public mutating func next() async -> DirectoryNews? {
            while true {
                while let line = lines.popFirst() {
                    if line == Array("*".utf8) { return .everything }
                    // A line that this version cannot decode was sent by a newer driver: any part may have changed.
                    guard let change = try? JSONDecoder().decode(DirectoryChange.self, from: Data(line)) else {
                        return .everything
                    }
                    return .changed(change)
                }
                guard let more = await reader.next() else { return nil }
                lines = more[...]
            }
        }
    }
}

/// Reads complete lines from a subscription, outside of the threads of Swift's concurrency runtime.
final class LineReader: Sendable {
    let subscription: ChangeSubscription
    private let queue = DispatchQueue(label: "kalij.changes")
    /// The beginning of an incomplete line.
    // Accessed on the queue only.
    private nonisolated(unsafe) var rest: [UInt8] = []

    init(_ subscription: ChangeSubscription) { self.subscription = subscription }

    deinit { subscription.end() }

    /// Waits for lines; nil at the end.
    func next() async -> [[UInt8]]? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async { [self] in continuation.resume(returning: read()) }
            }
        } onCancel: {
            subscription.end()
        }
    }

    private func read() -> [[UInt8]]? {
        while let bytes = subscription.next() {
            var lines = (rest + bytes).split(separator: 0x0A, omittingEmptySubsequences: false).map(Array.init)
            rest = lines.popLast() ?? []
            if !lines.isEmpty { return lines }
        }
        return nil
    }
}
