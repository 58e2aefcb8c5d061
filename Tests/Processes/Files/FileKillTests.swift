import Foundation
import KalijLab
import Testing

/// Files under kills: what the receivers, the server's archive and the server's disk have counts.
///
/// `FILE_KILLS=200` gives the long form: so many kills at each server. `FILE_SERVER=ejabberd` is a single kind of server; with
/// `KALIJ_DEBIAN13=FOLDER` Debian 13's servers are there, too, and with `FILE_RELEASE=debian13` alone.
@Suite(.serialized) struct FileKillTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let kills = Int(environment["FILE_KILLS"] ?? "") ?? 10
    private static let kinds =
        environment["FILE_SERVER"].flatMap { ServerKind(rawValue: $0) }.map { [$0] } ?? ServerKind.allCases
    private static let releases = DebianRelease.available.filter {
        environment["FILE_RELEASE"] != "debian13" || $0 != .installed
    }

    @Test(
        "a client that uploads is killed again and again: each accepted file arrives once, whole, and its text behind it"
    )
    func killed() async throws {
        // At the same time: most of the time is waiting.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (part, release) in Self.releases.enumerated() {
                for kind in Self.kinds {
                    group.addTask {
                        let part = part * 2 + (kind == .prosody ? 0 : 1)
                        let uploads = try await KilledUploads(kind, release, part: part)
                        defer { uploads.world.close() }
                        try await uploads.run(kills: Self.kills)
                        try await uploads.settle()
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
