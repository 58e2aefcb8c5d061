import Foundation
import KalijLab
import TestSupport

/// The seconds after which a wait of a test counts as hung. No test measures a time by this limit: a busy machine takes long, and that is
/// no fault.
/// `patience=40` in `KALIJ_LONG` shortens the wait for a failure.
let hangLimit = LongForm.choice("patience").flatMap { Double($0) } ?? 400

/// Waits until `condition` holds.
/// - Returns: false if `condition` does not hold within ``hangLimit``.
func until(
    every milliseconds: Int = 10, isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async rethrows -> Bool {
    let deadline = Date().addingTimeInterval(hangLimit)
    while try await !condition() {
        guard Date() < deadline else { return false }
        try? await sleep(for: .milliseconds(milliseconds))
    }
    return true
}
