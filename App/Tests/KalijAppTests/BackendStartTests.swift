import Foundation
import KalijClient
import Testing

@testable import KalijApp

@Suite struct BackendStartTests {
    @Test(.timeLimit(.minutes(1)))
    func `A start that has failed is tried again by itself`() async throws {
        let path = NSTemporaryDirectory() + "/" + UUID().uuidString
        try Data().write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let backend = Backend(AccountDirectory(path), retryPause: .milliseconds(20))
        for await look in backend.looks() {
            guard case .driving(let driving) = look else { continue }
            if case .failed = driving {
                try? FileManager.default.removeItem(atPath: path)
                try FileManager.default.createDirectory(
                    atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            } else {
                #expect([.here, .noAccount].contains(driving))
                break
            }
        }
        await backend.stop()
    }
}
