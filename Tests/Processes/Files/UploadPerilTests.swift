import Foundation
import Glibc
import KalijLab
import Testing

/// Uploads whose server or connection ends in the middle.
@Suite(.serialized) struct UploadPerilTests {
    /// `SERVER_ENDS=50` and `FILE_CUTS=200` are the long forms.
    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    /// `PERIL_SERVER=prosody` takes one server.
    private static var kinds: [ServerKind] {
        ProcessInfo.processInfo.environment["PERIL_SERVER"].flatMap { ServerKind(rawValue: $0) }.map { [$0] }
            ?? ServerKind.allCases
    }

    @Test("servers end in the middle of uploads: no torso is announced, and each file arrives once")
    func serverEnds() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for kind in Self.kinds {
                group.addTask { try await serverEnds(kind, times: Self.number("SERVER_ENDS") ?? 2) }
            }
            try await group.waitForAll()
        }
    }

    /// Ends the server so many times with each signal.
    private func serverEnds(_ kind: ServerKind, times: Int) async throws {
        let link = try BadLink()
        let world = try await link.world(kind)
        defer { world.close() }
        // A killed ejabberd forgets accounts that were made since its last start, and refuses messages to them.
        try await world.server.restart()
        var sent = SentFiles(world)
        let run = try world.kalij.running()
        try await run.event("caught_up")
        var choices = SystemRandomNumberGenerator()
        var sealed = 0
        // As much as leaves in half a second may be with the system already: a file behind the seal is looked for over 40 s.
        try await link.tell("rate 1000000")
        let start = Date()
        for round in 0..<2 * times {
            let size = Int.random(in: 1_800_000...2_400_000, using: &choices)
            // The last end comes behind the seal.
            let isLate = round % 5 == 4
            let goal = isLate ? size - 10_000 : Int.random(in: 0...(size - 1_400_000), using: &choices)
            let before = try link.events("up").count
            let id = try sent.accept(size)
            let isMoving = try await until(every: 2) {
                try link.events("up").dropFirst(before).contains { ($0.bytes ?? 0) >= goal }
            }
            let listed = try world.kalij("uploads").output
            #expect(isMoving, "\(kind), round \(round): \(listed)")
            let signal = round.isMultiple(of: 2) ? SIGKILL : SIGTERM
            if let pid = world.server.pid { kill(-pid, signal) }
            let state = try world.kalij("uploads").output
            if state.contains("sealed") { sealed += 1 }
            await world.server.stop()
            try await world.server.start()
            try await run.acked(id, world)
        }
        print(
            "\(kind): \(2 * times) ends in uploads, \(sealed) behind the seal, in \(Date().timeIntervalSince(start)) s")
        #expect(try sent.isDone())
        #expect(run.end(SIGTERM).status == 0)
        try await sent.expectWhole()
    }

    @Test("connections are cut by reset, end and silence, before and behind the seal: each file arrives once, soon")
    func cuts() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for kind in Self.kinds {
                group.addTask { try await cuts(kind, times: Self.number("FILE_CUTS") ?? 10) }
            }
            try await group.waitForAll()
        }
    }

    private func cuts(_ kind: ServerKind, times: Int) async throws {
        let link = try BadLink()
        let world = try await link.world(kind, users: ["alice", "bob", "carol"])
        defer { world.close() }
        var sent = SentFiles(world)
        let run = try world.kalij.running()
        try await run.event("caught_up")
        var choices = SystemRandomNumberGenerator()
        var longest = 0.0
        // On a fast link a small file is with the system, and sealed, before the first byte has left.
        try await link.tell("rate \(Self.number("PERIL_RATE") ?? 400_000)")
        for round in 0..<times {
            let size = Int.random(
                in: Self.number("PERIL_RATE") == 0 ? 40_000...300_000 : 700_000...800_000, using: &choices)
            let manner = ["reset", "end", "silence"][round % 3]
            let cut: String
            // The first cut takes the last block away from the server, which takes the engine a while to believe.
            switch (round, round / 3 % 3) {
            case (0, _): cut = "cut \(size - 4000)"
            case (_, 1): cut = "answer \(size)"
            default: cut = "cut \(Int.random(in: 1..<min(150_000, size - 20_000), using: &choices))"
            }
            try await link.tell("\(cut) \(manner) 1.5")
            let id = try sent.accept(size, for: round == 0 ? "carol@localhost" : "bob@localhost")
            let isCut = try await until { try link.events("cut").count == round + 1 }
            let listed = try world.kalij("uploads").output
            let seen = try run.lines.suffix(6)
            #expect(isCut, "\(kind), round \(round): \(cut), \(listed), \(seen)")
            let end = try #require(try link.events("cut").last).at
            var next: Double?
            _ = try await until {
                next = try link.events("open").first { $0.at > end - 0.05 && $0.link == 0 }?.at
                return next != nil
            }
            print(
                "\(kind), round \(round): \(size) bytes, \(cut) \(manner): going on after \((next ?? .infinity) - end) s"
            )
            longest = max(longest, (next ?? .infinity) - end)
            #expect((next ?? .infinity) - end < 5, "\(kind), round \(round): \(cut) \(manner)")
            guard round > 0 else { continue }
            try await run.acked(id, world)
        }
        print("\(kind): \(times) cuts, going on after at most \(longest) s")
        #expect(try await until(every: 200) { try sent.isDone() })
        #expect(run.end(SIGTERM).status == 0)
        try await sent.expectWhole(to: ["bob", "carol"])
    }
}
