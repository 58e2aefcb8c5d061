import Foundation
import Glibc
import KalijLab
import TestSupport
import Testing

/// Uploads whose server or connection ends in the middle.
@Suite(.serialized) struct UploadFailureTests {
    /// The rate of the link in cuts; `rate=0` for no limit.
    private static let rate = LongForm.choice("rate").flatMap { Int($0) } ?? 400_000

    @Test("servers end in the middle of uploads: no torso is announced, and each file arrives once")
    func serverEnds() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for kind in LongForm.servers {
                group.addTask { try await serverEnds(kind, times: LongForm.amount("server-ends", short: 1)) }
            }
            try await group.waitForAll()
        }
    }

    /// Ends the server so many times with each signal. `Scripts/long server-ends 50` gives the long form.
    private func serverEnds(_ kind: ServerKind, times: Int) async throws {
        let link = try BadLink()
        let world = try await link.world(kind)
        defer { world.close() }
        // A killed ejabberd forgets accounts that were made since its last start, and refuses messages to them.
        try await world.server.restart()
        var sent = SentFiles(world)
        let run = try world.kalij.running()
        try await run.event("caught_up")
        let choices = RandomChoices("server ends", part: kind == .prosody ? 0 : 1)
        var sealed = 0
        // As much as leaves in half a second may be with the system already: a file behind the seal is looked for over 40 s.
        try await link.tell("rate 1000000")
        let start = Date()
        for round in 0..<2 * times {
            let size = choices.number(1_800_000...2_400_000)
            // The last end comes behind the seal.
            let isLate = round % 5 == 4
            let goal = isLate ? size - 10_000 : choices.number(0...(size - 1_400_000))
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

    @Test("connections are cut by reset, end and silence, before and behind the seal: each file arrives once")
    func cuts() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for kind in LongForm.servers {
                group.addTask { try await cuts(kind, times: LongForm.amount("file-cuts", short: 7)) }
            }
            try await group.waitForAll()
        }
    }

    /// `Scripts/long file-cuts 200` gives the long form.
    private func cuts(_ kind: ServerKind, times: Int) async throws {
        let link = try BadLink()
        let world = try await link.world(kind, users: ["alice", "bob", "carol"])
        defer { world.close() }
        var sent = SentFiles(world)
        let run = try world.kalij.running()
        try await run.event("caught_up")
        let choices = RandomChoices("file cuts", part: kind == .prosody ? 0 : 1)
        var longest = 0.0
        // On a fast link a small file is with the system, and sealed, before the first byte has left.
        try await link.tell("rate \(Self.rate)")
        for round in 0..<times {
            let size = choices.number(Self.rate == 0 ? 40_000...300_000 : 700_000...800_000)
            let manner = ["reset", "end", "silence"][round % 3]
            let cut: String
            // The first cut takes the last block away from the server, which takes the engine a while to believe.
            switch (round, round / 3 % 3) {
            case (0, _): cut = "cut \(size - 4000)"
            case (_, 1): cut = "answer \(size)"
            default: cut = "cut \(choices.number(1...min(150_000, size - 20_000) - 1))"
            }
            func opened() throws -> [BadLink.Event] { try link.events("open").filter { $0.link == 0 } }
            let before = try opened().count
            try await link.tell("\(cut) \(manner) 1.5")
            let id = try sent.accept(size, for: round == 0 ? "carol@localhost" : "bob@localhost")
            let isCut = try await until { try link.events("cut").count == round + 1 }
            let listed = try world.kalij("uploads").output
            let seen = try run.lines.suffix(6)
            #expect(isCut, "\(kind), round \(round): \(cut), \(listed), \(seen)")
            let end = try #require(try link.events("cut").last).at
            // The connection after the one that was cut.
            #expect(try await until { try opened().count >= before + 2 }, "\(kind), round \(round): \(cut) \(manner)")
            let pause = try opened().dropFirst(before + 1).first.map { $0.at - end } ?? .infinity
            print("\(kind), round \(round): \(size) bytes, \(cut) \(manner): going on after \(pause) s")
            longest = max(longest, pause)
            guard round > 0 else { continue }
            try await run.acked(id, world)
        }
        print("\(kind): \(times) cuts, going on after at most \(longest) s")
        #expect(try await until(every: 200) { try sent.isDone() })
        #expect(run.end(SIGTERM).status == 0)
        try await sent.expectWhole(to: ["bob", "carol"])
    }
}
