import Foundation
import KalijStore
import TestSupport
import Testing

@testable import KalijPush

@Suite("The disk takes nothing for a while")
struct StateWriterTests {
    private let folder = ScratchDirectory.freshPath("kalij-push")

    private func withKeeper(_ body: (StateWriter, PushDatabase) throws -> Void) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let database = try PushDatabase(
            path: folder + "/push.db", seal: try Seal(secret: [UInt8](repeating: 5, count: 32)))
        try body(StateWriter(database), database)
    }

    private func push(_ id: UInt64, _ attempts: Int = 0) -> QueuedPush {
        QueuedPush(id: id, module: "m", token: "t\(id)", isImportant: true, due: 1, attempts: attempts)
    }

    private func rows(_ database: PushDatabase) throws -> [QueuedPush] {
        var state = KeptState(database, knownLimit: 10)
        var rows: [QueuedPush] = []
        while let part = try state.next() { rows += part.queued }
        return rows
    }

    /// No page more than there are.
    private func fill(_ database: PushDatabase) throws { try database.database.execute("PRAGMA max_page_count = 1") }
    private func free(_ database: PushDatabase) throws {
        try database.database.execute("PRAGMA max_page_count = 1000000")
    }

    private func many(_ ids: ClosedRange<UInt64>) -> [CoreAction] { ids.map { .keep(push($0)) } }

    @Test("full: nothing of a batch is kept, the batch waits, and is written when there is room again")
    func full() throws {
        try withKeeper { keeper, database in
            #expect(keeper.keep([.keep(push(1)), .keep(push(2))], now: 0))
            try fill(database)
            #expect(!keeper.keep(many(3...1_000), now: 10))
            #expect(keeper.failure?.contains("full") == true)
            #expect(try rows(database).map(\.id) == [1, 2])
            // Not tried at each action.
            #expect(!keeper.keep([.keep(push(1_001))], now: 20))
            #expect(keeper.backlog == 999)
            #expect(!keeper.workOff(now: 500))
            try free(database)
            #expect(!keeper.workOff(now: 1_100))
            #expect(keeper.failure == nil)
            #expect(keeper.backlog == 0)
            #expect(try rows(database).map(\.id) == Array(1...1_001))
        }
    }

    @Test("a push is sent with its attempt uncounted only if nothing of the push is on the disk")
    func counted() throws {
        try withKeeper { keeper, database in
            #expect(keeper.keep([.keep(push(1))], now: 0))
            try fill(database)
            #expect(!keeper.keep([.keep(push(1, 1))] + many(2...900), now: 10))
            #expect(!keeper.isCounted(1))
            #expect(keeper.isCounted(2))
            #expect(!keeper.keep([.keep(push(2, 1))], now: 20))
            #expect(keeper.isCounted(2))
            // A push that was never on the disk and is over needs nothing; the other push is to be removed.
            #expect(!keeper.keep([.drop(1)] + (UInt64(2)...900).map { .drop($0) }, now: 30))
            #expect(keeper.backlog == 1)
            try free(database)
            _ = keeper.workOff(now: 2_000)
            #expect(try rows(database).isEmpty)
        }
    }

    @Test("waiting changes do not overwrite later changes")
    func order() throws {
        try withKeeper { keeper, database in
            let key = HashedKey(high: 1, low: 1)
            try fill(database)
            #expect(!keeper.keep(many(1...900) + [.know(key, at: 1), .block(change(key, 1))], now: 0))
            try free(database)
            #expect(keeper.keep([.keep(push(5, 2)), .drop(6), .block(change(key, 2))], now: 1_500))
            while keeper.workOff(now: 1_500) {}
            let kept = try rows(database)
            #expect(kept.count == 899)
            #expect(kept.first { $0.id == 5 }?.attempts == 2)
            let version = try database.database.statement("SELECT version FROM block").first { $0.integer() }
            #expect(version == 2)
        }
    }

    private func change(_ key: HashedKey, _ version: UInt64) -> BlockChange {
        BlockChange(key: key, version: version, expires: 9, reason: .dead)
    }
}
