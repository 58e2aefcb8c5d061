import Foundation
import KalijCoordination
import KalijStore
import TestSupport
import Testing

@Suite struct FenceTests {
    let directory = try? ScratchDirectory()

    private func database() throws -> Database {
        let database = try Database(path: try #require(directory).file("a.db"), durability: .process)
        try database.execute(Fence.schema)
        return database
    }

    private func lock() throws -> String { try #require(directory).file("driver.lock") }

    @Test("Only one owner at a time; a refused process is told the owner")
    func exclusive() throws {
        let (one, two) = (try database(), try database())
        let (fence, previous) = try Fence.take(in: one, lockPath: lock(), role: .main, now: 5)
        #expect(previous == nil)
        do {
            _ = try Fence.take(in: two, lockPath: lock(), role: .background, now: 6)
            Issue.record("it was taken twice")
        } catch FenceError.held(let owner) {
            #expect(owner == fence.owner)
            #expect(owner.pid == getpid() && owner.role == .main && owner.since == 5)
        }
    }

    @Test("After letting go, the next owner takes the fence, with a number higher by one, and knows of the letting go")
    func handedOver() throws {
        let database = try database()
        let (first, _) = try Fence.take(in: database, lockPath: lock(), role: .main, now: 1)
        try first.letGo(database)
        let (second, previous) = try Fence.take(in: database, lockPath: lock(), role: .wake, now: 2)
        #expect(second.owner.number == first.owner.number + 1)
        #expect(previous?.letGo == true)
    }

    @Test("An owner that is gone without letting go is replaced, and the next owner knows to be careful")
    func died() throws {
        let database = try database()
        do { _ = try Fence.take(in: database, lockPath: lock(), role: .main, now: 1) }
        let (_, previous) = try Fence.take(in: database, lockPath: lock(), role: .main, now: 2)
        #expect(previous?.letGo == false)
    }

    @Test("No step of a stale owner commits")
    func stale() throws {
        let database = try database()
        let (fence, _) = try Fence.take(in: database, lockPath: lock(), role: .main, now: 1)
        try database.execute("CREATE TABLE t(a)")
        try database.transaction { try fence.check(database) }
        try database.run("UPDATE fence SET number = number + 1")
        #expect(throws: FenceError.self) {
            try database.transaction {
                try fence.check(database)
                try database.run("INSERT INTO t VALUES (1)")
            }
        }
        #expect(try database.prepare("SELECT count(*) FROM t").first { $0.integer() } == 0)
    }

    @Test("Asking for the driver takes nothing")
    func asking() throws {
        let database = try database()
        #expect(try Fence.current(in: database, lockPath: lock()) == nil)
        let (fence, _) = try Fence.take(in: database, lockPath: lock(), role: .main, now: 1)
        #expect(try Fence.current(in: database, lockPath: lock()) == fence.owner)
        #expect(try Fence.current(in: database, lockPath: lock()) == fence.owner)
        try fence.letGo(database)
        #expect(try Fence.current(in: database, lockPath: lock()) == nil)
    }
}
