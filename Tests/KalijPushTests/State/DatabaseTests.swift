import Foundation
import KalijStore
import TestSupport
import Testing

@testable import KalijPush

@Suite("The state that survives the process")
struct DatabaseTests {
    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = ScratchDirectory.freshPath("kalij-push")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    private func load(_ database: PushDatabase, limit: Int = 10) throws -> KeptState.Part {
        var state = KeptState(database, knownLimit: limit)
        var all = KeptState.Part()
        while let part = try state.next() {
            all.modules += part.modules
            all.blocks += part.blocks
            all.hits += part.hits
            all.known += part.known
            all.queued += part.queued
        }
        return all
    }

    private let secret = [UInt8](repeating: 5, count: 32)
    private let token = "0123456789abcdef0123456789abcdef"

    @Test("queued pushes and blocks come back unchanged; dropped ones do not")
    func roundTrip() throws {
        try withFolder { folder in
            let push = QueuedPush(id: 1, module: "m", token: token, isImportant: true, due: 500, attempts: 0)
            var second = push
            second.id = 2
            let block = BlockChange(
                key: HashedKey(high: 1, low: 2), version: BlockChange.version(at: 90), expires: 5_000, reason: .bad)
            let old = BlockChange(
                key: HashedKey(high: 3, low: 2), version: BlockChange.version(at: 39), expires: 50, reason: .dead)
            let held = BlockChange(
                key: HashedKey(high: 4, low: 2), version: BlockChange.version(at: 40), expires: 50, reason: .dead)
            do {
                let database = try PushDatabase(path: folder + "/push.db", seal: try Seal(secret: secret))
                let key = HashedKey(high: 8, low: 8)
                try database.apply([.keep(push), .keep(second), .block(block), .block(old), .know(key, at: 90)])
                try database.apply([.block(held), .hit(BlockHit(key: held.key, until: 700))])
                var tried = second
                tried.attempts = 1
                try database.apply([.keep(tried), .drop(1)])
            }
            let database = try PushDatabase(path: folder + "/push.db", seal: try Seal(secret: secret))
            #expect(database.lastID == 2)
            #expect(try database.cleanUp(now: 100, longest: 60, known: 50))
            let kept = try load(database)
            #expect(kept.known.map(\.at) == [90])
            second.attempts = 1
            #expect(kept.queued == [second])
            #expect(kept.blocks == [block, held])
            #expect(kept.hits == [BlockHit(key: held.key, until: 700)])
            var drill = try Drill()
            drill.now = 100
            _ = drill.core.restore(blocks: kept.blocks, hits: kept.hits, now: drill.now)
            #expect(drill.core.blocks.tokens.expiry(held.key, now: 600) == 700)
        }
    }

    @Test("a database belongs to one process at a time")
    func lock() throws {
        try withFolder { folder in
            let path = folder + "/push.db"
            do {
                let first = try PushDatabase(path: path, seal: try Seal(secret: secret))
                #expect {
                    try withExtendedLifetime(first) { _ = try PushDatabase(path: path, seal: try Seal(secret: secret)) }
                } throws: { "\($0)" == "another process uses \(path)" }
                let link = folder + "/link.db"
                try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
                #expect(throws: FileLock.Taken.self) {
                    try withExtendedLifetime(first) { _ = try PushDatabase(path: link, seal: try Seal(secret: secret)) }
                }
            }
            _ = try PushDatabase(path: path, seal: try Seal(secret: secret))
        }
    }

    @Test("everything is read in parts: the latest of the successes; and cleared in parts")
    func parts() throws {
        try withFolder { folder in
            let database = try PushDatabase(path: folder + "/push.db", seal: try Seal(secret: secret))
            var actions: [CoreAction] = []
            for number in UInt64(1)...2_500 {
                let key = HashedKey(high: number &* 0x9e37_79b9_7f4a_7c15, low: number)
                let push = QueuedPush(id: number, module: "m", token: "t\(number)", isImportant: true, due: 1)
                actions += [
                    .know(key, at: Milliseconds(number / 2)), .keep(push),
                    .block(BlockChange(key: key, version: number << 16, expires: 1, reason: .dead)),
                ]
            }
            try database.apply(actions)
            var kept = try load(database, limit: 1_500)
            #expect(Set(kept.blocks.map(\.key.bytes)).count == 2_500)
            #expect(kept.queued.map(\.id) == Array(1...2_500))
            let latest: [Milliseconds] = (0..<1_500).map { (2_500 - $0) / 2 }
            #expect(kept.known.map(\.at) == latest)
            var rounds = 1
            while try !database.cleanUp(now: 3_001, longest: 1_000, known: 1_000) { rounds += 1 }
            #expect(rounds == 4)
            kept = try load(database, limit: 10_000)
            #expect(kept.blocks.map { $0.version >> 16 }.sorted() == Array(2_001...2_500))
            #expect(kept.known.count == 501)
        }
    }

    @Test("rows with foreign numbers do no harm")
    func damage() throws {
        try withFolder { folder in
            let path = folder + "/push.db"
            let seal = try Seal(secret: secret)
            _ = try PushDatabase(path: path, seal: seal)
            let other = try Database(path: path, durability: .process)
            for number in ["-9223372036854775808", "9223372036854775807", "-1"] {
                try other.execute(
                    """
                    INSERT INTO block(key, version, expires, reason, hit) VALUES (randomblob(3), \(number), \(number), \(number), \(number));
                    INSERT INTO known VALUES (randomblob(30), \(number));
                    INSERT INTO success VALUES ('m\(number)', x'', \(number));
                    """)
                let plain = Array("\u{1}m\0token\(number)".utf8)
                try other.run(
                    "INSERT INTO queued VALUES (?, ?, ?, ?)",
                    [
                        .integer(Int64(number) ?? 0), .blob(try seal.seal(plain)), .integer(Int64(number) ?? 0),
                        .integer(Int64(number) ?? 0),
                    ])
            }
            let database = try PushDatabase(path: path, seal: seal)
            var drill = try Drill()
            drill.core.restore(lastID: database.lastID)
            let kept = try load(database)
            let modules = kept.modules.map {
                ModuleSuccess(module: "m", identity: HashedKey(high: 0, low: 0), at: $0.at)
            }
            _ = drill.core.restore(
                queued: kept.queued, blocks: kept.blocks, hits: kept.hits, known: kept.known, modules: modules,
                now: drill.now)
            _ = drill.pass(86_400_000)
            #expect(drill.publish().first?.hasPrefix("send") == true)
            _ = drill.deliver(.bad, drill.core.lastID)
            #expect(try database.cleanUp(now: drill.now, longest: 1_000, known: drill.now - 1))
        }
    }

    @Test("the time and identity of a module's last success are kept")
    func successes() throws {
        try withFolder { folder in
            let database = try PushDatabase(path: folder + "/push.db", seal: try Seal(secret: secret))
            let first = ModuleSuccess(module: "m", identity: HashedKey(high: 1, low: 2), at: 7)
            let second = ModuleSuccess(module: "m", identity: HashedKey(high: 3, low: 4), at: 9)
            try database.apply([.success(first), .success(second)])
            #expect(try load(database).modules == [second])
        }
    }

    @Test("nothing but keyed hashes and sealed rows: no token, no domain is readable in the file")
    func privacy() throws {
        try withFolder { folder in
            let database = try PushDatabase(path: folder + "/push.db", seal: try Seal(secret: secret))
            try database.apply([
                .keep(QueuedPush(id: 1, module: "monal", token: token, isImportant: false, due: 0)),
                .block(BlockChange(key: HashedKey(high: 1, low: 2), version: 1, expires: 9, reason: .dead)),
            ])
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                let data = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))
                #expect(data.range(of: Data(token.utf8)) == nil)
                #expect(data.range(of: Data("monal".utf8)) == nil)
            }
        }
    }

    @Test("two secrets during rotation: rows of the old secret are read; with neither secret rows are forgotten")
    func rotation() throws {
        try withFolder { folder in
            let push = QueuedPush(id: 1, module: "m", token: token, isImportant: true, due: 500)
            try PushDatabase(path: folder + "/push.db", seal: try Seal(secret: secret)).apply([.keep(push)])
            let new = try Seal(secret: [UInt8](repeating: 6, count: 32))
            func rows(_ previous: Seal?) throws -> [QueuedPush] {
                try load(try PushDatabase(path: folder + "/push.db", seal: new, previousSeal: previous)).queued
            }
            #expect(try rows(try Seal(secret: secret)) == [push])
            #expect(try rows(nil) == [])
            #expect(try rows(try Seal(secret: secret)) == [])
        }
    }

    @Test("a changed sealed row is not opened")
    func tampering() throws {
        let seal = try Seal(secret: secret)
        let sealed = try seal.seal(Array("text".utf8))
        #expect(seal.open(sealed) == Array("text".utf8))
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(seal.open(changed) == nil)
        }
        #expect(seal.open([]) == nil)
        #expect(try seal.seal([]).count == 28)
    }
}
