import Foundation
import TestSupport
import Testing

@testable import KalijStore

@Suite struct BarrierTests {
    private func made(_ durability: Database.Durability, in directory: ScratchDirectory) throws -> Database {
        let database = try Database(path: directory.file("a.db"), durability: durability)
        try database.execute(Barrier.schema)
        return database
    }

    private func synchronous(_ database: Database) throws -> Int64? {
        try database.prepare("PRAGMA synchronous").first { $0.integer() }
    }

    @Test("Each barrier changes a page, because a FULL commit without a change syncs nothing")
    func grows() throws {
        let directory = try ScratchDirectory()
        let database = try made(.process, in: directory)
        let barrier = Barrier(database)
        for expected in 1...3 {
            try barrier.raise()
            #expect(try database.prepare("SELECT number FROM barrier").first { $0.integer() } == Int64(expected))
        }
    }

    @Test("The barrier's commit syncs (FULL is 2), commits before and after do not (NORMAL is 1)")
    func syncs() throws {
        let directory = try ScratchDirectory()
        let database = try made(.process, in: directory)
        #expect(try synchronous(database) == 1)
        var during: Int64?
        try database.durably { () throws(StoreError) in during = try? synchronous(database) }
        #expect(during == 2)
        #expect(try synchronous(database) == 1)
    }

    @Test("After a failed barrier the next barrier syncs, and the commits in between do not")
    func fails() throws {
        let directory = try ScratchDirectory()
        let database = try made(.process, in: directory)
        try database.execute("DROP TABLE barrier")
        #expect(throws: StoreError.self) { try Barrier(database).raise() }
        #expect(try synchronous(database) == 1)
    }

    @Test("A connection whose commits sync goes on syncing")
    func machine() throws {
        let directory = try ScratchDirectory()
        let database = try made(.machine, in: directory)
        try Barrier(database).raise()
        #expect(try synchronous(database) == 2)
    }

    @Test("In a transaction a barrier is refused, because there nothing would be synced")
    func inTransaction() throws {
        let directory = try ScratchDirectory()
        let database = try made(.process, in: directory)
        #expect(throws: StoreError.self) { try database.transaction { try Barrier(database).raise() } }
    }
}
