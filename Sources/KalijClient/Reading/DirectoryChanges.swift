import Dispatch
import FoundationEssentials
import KalijRoles
import KalijSteps

/// An element of ``DirectoryChanges``.
public enum DirectoryNews: Sendable, Equatable {
    /// Anything may be different: at the beginning, and after changes that a slow loop has missed.
    case everything
    /// A part is different.
    case changed(DirectoryChange)
}

/// What is shown differently in a directory, as an asynchronous sequence for one loop: told by the driver after each commit, whether the
/// program's own process drives or another. No page is written for it, and nothing is polled.
///
/// The sequence ends when the driver lets go or dies, and when the task is cancelled. Changes within 50 ms are told together, each once. The
/// driver does not wait for a slow loop.
public struct DirectoryChanges: AsyncSequence, Sendable {
    public typealias Element = DirectoryNews
    public typealias Failure = Never
    let reader: LineReader

    /// Everything from now on; the first element is ``DirectoryNews/everything``. Nil if nobody drives `directory`, or the driver is just
    /// beginning.
    public init?(_ directory: AccountDirectory) {
        guard let subscription = Doorbell.changes(directory: directory.path) else { return nil }
        reader = LineReader(subscription)
    }

    public func makeAsyncIterator() -> Iterator { Iterator(reader: reader) }

    /// The driver connects all accounts that wait for their next attempt.
    public func connectNow() { reader.subscription.connectNow() }

    /// The loop over the changes.
    public struct Iterator: AsyncIteratorProtocol {
        public typealias Failure = Never
        let reader: LineReader
        private var lines: ArraySlice<[UInt8]> = []

        init(reader: LineReader) { self.reader = reader }

        /// The next change; nil once nobody drives, or if the task is cancelled.
        public mutating func next() async -> DirectoryNews? {
            while true {
                while let line = lines.popFirst() {
                    if line == Array("*".utf8) { return .everything }
                    // A line that this version does not understand comes from a newer driver: anything may be different.
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

/// Reads a subscription in whole lines, away from the threads of Swift's concurrency.
final class LineReader: Sendable {
    let subscription: ChangeSubscription
    private let queue = DispatchQueue(label: "kalij.changes")
    /// The begin of a line whose end has not come.
    // Used on the queue alone.
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
