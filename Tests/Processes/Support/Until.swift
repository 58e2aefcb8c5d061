import Foundation
import KalijLab

/// The seconds after which a wait of a test counts as hung. No test measures a time by this limit: a busy machine takes long, and that is
/// no fault.
let hangLimit = 400.0

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
