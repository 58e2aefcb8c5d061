import Foundation
import KalijLab
import TestSupport
import Testing

/// Files under kills: what the receivers, the server's archive and the server's disk have counts.
///
/// `Scripts/long file-kills 200` gives the long form: so many kills at each server; with `release=all` at the servers of all releases.
@Suite(.serialized) struct FileKillTests {
    private static let kills = LongForm.amount("file-kills", short: 8)
    private static let releases =
        LongForm.choice("release") == "all" ? DebianRelease.available : [ServerOptions().release]

    @Test(
        "a client that uploads is killed again and again: each accepted file arrives once, whole, and its text behind it"
    )
    func killed() async throws {
        // At the same time: most of the time is waiting.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (part, release) in Self.releases.enumerated() {
                for kind in LongForm.servers {
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
