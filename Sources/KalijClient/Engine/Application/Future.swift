import KalijCore
import KalijFeatures
import Synchronization

/// A value that is set once and awaited by any number of tasks.
final class Future<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var last = 0
        var waiting: [Int: CheckedContinuation<Value, any Error>] = [:]
    }

    private let state = Mutex(State())

    /// Sets the value; a second call has no effect.
    func resolve(_ result: Result<Value, any Error>) {
        let waiting = state.withLock { state in
            guard state.result == nil else { return [CheckedContinuation<Value, any Error>]() }
            state.result = result
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        waiting.forEach { $0.resume(with: result) }
    }

    var isResolved: Bool { state.withLock { $0.result != nil } }

    /// The value, once set.
    /// - Throws: the error set instead of the value; `CancellationError` if the task is cancelled first.
    func value() async throws -> Value {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { add($0, number) }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(throwing: CancellationError())
        }
    }

    private func add(_ continuation: CheckedContinuation<Value, any Error>, _ number: Int) {
        let result = state.withLock { state in
            if state.result == nil { state.waiting[number] = continuation }
            return state.result
        }
        // A cancellation before this point found no continuation.
        if let result {
            continuation.resume(with: result)
        } else if Task.isCancelled {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(throwing: CancellationError())
        }
    }
}
