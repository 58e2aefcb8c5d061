import KalijHandlers
import KalijTransport
import Synchronization

/// Queries the engine for a promise, on the engine's thread.
// Set before the loop runs and used on the loop's thread alone: the waker carries the query there.
package final class PromiseResolver: @unchecked Sendable {
    package var answer: (Int64) -> Void = { _ in }

    package init(answer: @escaping (Int64) -> Void = { _ in }) { self.answer = answer }
    package func resolve(_ promise: Int64) { answer(promise) }
}

/// Waits for promises with Swift's `await`, in a living process. Only stored handlers survive the process.
public final class PromiseAwaiter: Sendable {
    private struct State {
        package var next = 0
        package var continuations: [Int64: [Int: CheckedContinuation<StoredValue, any Error>]] = [:]
        package var isOpen = true
    }

    private let waiting = Mutex(State())
    private let wake: @Sendable (Int64) -> Void

    /// - Parameter wake: makes the engine look up a promise that may be settled already.
    package init(wake: @escaping @Sendable (Int64) -> Void) { self.wake = wake }

    /// The value of a promise, once it is resolved.
    /// - Throws: the promise's `Rejection`; `Rejection.stopped` if the engine ends first; `CancellationError`.
    public func value<Value: Codable & Sendable>(of promise: Promise<Value>) async throws -> Value {
        let number = waiting.withLock { waiting in
            waiting.next += 1
            return waiting.next
        }
        let stored = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { add($0, number, promise.id) }
        } onCancel: {
            cancel(number, promise.id)
        }
        return try PromiseOutcome<Value>(stored: stored).get()
    }

    private func add(_ continuation: CheckedContinuation<StoredValue, any Error>, _ number: Int, _ id: Int64) {
        let isOpen = waiting.withLock { waiting in
            if waiting.isOpen { waiting.continuations[id, default: [:]][number] = continuation }
            return waiting.isOpen
        }
        guard isOpen else { return continuation.resume(throwing: Rejection.stopped) }
        if Task.isCancelled { return cancel(number, id) }
        wake(id)
    }

    private func cancel(_ number: Int, _ id: Int64) {
        let continuation = waiting.withLock { $0.continuations[id]?.removeValue(forKey: number) }
        continuation?.resume(throwing: CancellationError())
    }

    /// A promise was settled in a committed step.
    package func settled(_ id: Int64, _ outcome: StoredValue) {
        let continuations = waiting.withLock { $0.continuations.removeValue(forKey: id) }
        continuations?.values.forEach { $0.resume(returning: outcome) }
    }

    /// The engine ends.
    package func close() {
        let continuations = waiting.withLock { waiting in
            waiting.isOpen = false
            defer { waiting.continuations = [:] }
            return waiting.continuations.values.flatMap(\.values)
        }
        continuations.forEach { $0.resume(throwing: Rejection.stopped) }
    }
}
