import Foundation
import KalijLab
import TestSupport

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
