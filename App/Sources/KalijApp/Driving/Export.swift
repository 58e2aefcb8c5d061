import Dispatch
import KalijAddress
import KalijClient
import Synchronization

/// The export of an account into a file, on a thread of its own.
public final class Export: Sendable {
    private let isCancelled = Mutex(false)

    public init() {}

    /// Ends the export, which then leaves no file.
    public func cancel() { isCancelled.withLock { $0 = true } }

    /// Writes what is stored of an account; replaces an existing file.
    /// - Parameter progress: called on another thread with the part that is written, from 0 to 1.
    /// - Returns: the number of messages.
    /// - Throws: `CancellationError` after ``cancel()``; the errors of `AccountExport.save`
    public func save(
        _ account: String, of directory: AccountDirectory, to path: String,
        progress: @escaping @Sendable (Double) -> Void
    ) async throws -> Int {
        let export = AccountExport(directory, of: .received(account))
        return try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global(qos: .utility).async { [self] in
                let outcome = Result {
                    try export.save(to: path, replacing: true) { part in
                        if isCancelled.withLock({ $0 }) { throw CancellationError() }
                        progress(part)
                    }
                }
                continuation.resume(with: outcome)
            }
        }
    }
}
