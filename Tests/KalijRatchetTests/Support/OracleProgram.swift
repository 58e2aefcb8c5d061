import Foundation
import TestSupport

/// Programs in `Tests/Programs/ratchet`, which run with Debian 12's libraries, or with those of another Python
/// (`Scripts/long ratchet-model 1000000 python=...`).
enum OracleProgram {
    static let python = URL(filePath: LongForm.choice("python") ?? "/usr/bin/python3")

    static let environment = ProcessInfo.processInfo.environment.merging(["PYTHONDONTWRITEBYTECODE": "1"]) { $1 }

    static func path(_ name: String) -> String {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Programs/ratchet/\(name)").path
    }
}
