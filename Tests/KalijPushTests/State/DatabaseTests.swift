import Foundation
import KalijPush
import Testing

@Suite("What survives the process")
struct DatabaseTests {
    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.path + "/kalij-push-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    private let secret = [UInt8](repeating: 5, count: 32)
    private let token = "0123456789abcdef0123456789abcdef"

    @Test("queued pushes and blocks come back as they were; what was dropped does not")
    func roundTrip() throws {
        try withFolder { folder in
            let push = QueuedPush(id: 1, module: "m", token: token, isImportant: true, due: 500, attempts: 0)
            var second = push
            second.id = 2
            let block = BlockChange(key: HashedKey(high: 1, low: 2), version: 3, expires: 5_000, reason: .bad)
            let old = BlockChange(key: HashedKey(high: 3, low: 2), version: 3, expires: 50, reason: .dead)
            do {
                let database = try PushDatabase(path: folder + "/push.db", seal: try Seal(secret: secret))
                let key = HashedKey(high: 8, low: 8)
                try database.apply([.keep(push), .keep(second), .block(block), .block(old), .know(key, at: 90)])
                var tried = second
                tried.attempts = 1
                try database.apply([.keep(tried), .drop(1)])
            }
            let database = try PushDatabase(path: folder + "/push.db", seal: try Seal(secret: secret))
            let kept = try database.load(now: 100, lifetime: 50, limit: 10)
            #expect(kept.known.map(\.at) == [90])
            second.attempts = 1
            #expect(kept.queued == [second])
            #expect(kept.blocks == [block])
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

    @Test("two secrets during rotation: rows of the old one are read; with neither they are forgotten")
    func rotation() throws {
        try withFolder { folder in
            let push = QueuedPush(id: 1, module: "m", token: token, isImportant: true, due: 500)
            try PushDatabase(path: folder + "/push.db", seal: try Seal(secret: secret)).apply([.keep(push)])
            let new = try Seal(secret: [UInt8](repeating: 6, count: 32))
            let both = try PushDatabase(path: folder + "/push.db", seal: new, previousSeal: try Seal(secret: secret))
            #expect(try both.load(now: 0).queued == [push])
            #expect(try PushDatabase(path: folder + "/push.db", seal: new).load(now: 0).queued == [])
            #expect(try both.load(now: 0).queued == [])
        }
    }

    @Test("a sealed row that was changed is not opened")
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
