import Dispatch
import FoundationEssentials
import KalijRoles
import KalijSteps

extension AccountDirectory {
    /// What is shown differently from now on, told by the driver after each commit; nil if nobody drives, or the driver is just beginning.
    ///
    /// The way for a program that shows the directory, whether its own process drives or another. No page is written for it, and nothing is
    /// polled. The first element is ``DirectoryNews/everything``.
    public func changes() -> DirectoryChanges? {
        Doorbell.changes(directory: path).map { DirectoryChanges(reader: LineReader($0)) }
    }
}

/// An element of ``DirectoryChanges``.
public enum DirectoryNews: Sendable, Equatable {
    /// Anything may be different: at the beginning, and after changes that a slow loop has missed.
    case everything
    case changed(DirectoryChange)
}

/// What is shown differently, as an asynchronous sequence for one loop. The sequence ends when the driver lets go or dies, and when the
/// task is cancelled. Changes within 50 ms are told together, each once. The driver does not wait for a slow loop.
public struct DirectoryChanges: AsyncSequence, Sendable {
    public typealias Element = DirectoryNews
    public typealias Failure = Never
    let reader: LineReader

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
