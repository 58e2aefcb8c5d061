import Foundation
import KalijStore
import TestSupport
import Testing

@Suite struct SchemaTests {
    let directory = try? ScratchDirectory()
    let first = Schema(applicationID: 77, migrations: [Migration("a/1", "CREATE TABLE a(x)")])
    let second = Schema(
        applicationID: 77,
        migrations: [
            Migration("a/1", "CREATE TABLE a(x)"), Migration("a/2", "ALTER TABLE a ADD COLUMN y"),
            Migration("b/1", "CREATE TABLE b(z)"),
        ])

    private func path() throws -> String { try #require(directory).file("a.db") }

    private func open() throws -> Database { try Database(path: path(), durability: .process) }

    @Test("Migrations are made once each, in order, whichever were made before")
    func migrates() throws {
        let database = try open()
        try first.migrate(database)
        try database.run("INSERT INTO a VALUES (1)")
        #expect(try second.state(of: database) == .older)
        try second.migrate(database)
        try second.migrate(database)
        #expect(try second.state(of: database) == .current)
        #expect(try second.has("a/2", in: database) && !second.has("a/3", in: database))
        #expect(try database.prepare("SELECT x, y FROM a").first { $0.integer() } == 1)
    }

    @Test("A migration that is earlier in the order is made in a database with later migrations")
    func inBetween() throws {
        let database = try open()
        try Schema(applicationID: 77, migrations: [first.migrations[0], second.migrations[2]]).migrate(database)
        #expect(try second.state(of: database) == .older)
        try second.migrate(database)
        #expect(try second.state(of: database) == .current)
    }

    @Test("A database whose migrations have no names has the migrations of its version")
    func unnamed() throws {
        func schema(_ migrations: [Migration]) -> Schema { Schema(applicationID: 77, migrations: migrations) }
        let released = schema([
            Migration("a/1", version: 1, "CREATE TABLE a(x)"),
            Migration("a/2", version: 2, "ALTER TABLE a ADD COLUMN y"),
            Migration("a/3", "ALTER TABLE a ADD COLUMN z"),
        ])
        for (version, script) in [(1, "CREATE TABLE a(x)"), (2, "CREATE TABLE a(x, y)")] {
            let path = try path() + "\(version)"
            let database = try Database(path: path, durability: .process)
            try database.execute("\(script); PRAGMA application_id=77; PRAGMA user_version=\(version)")
            #expect(try released.check(path: path) == .older)
            try released.migrate(database)
            #expect(try released.state(of: database) == .current)
            #expect(try database.prepare("SELECT x, y, z FROM a").all { _ in 1 }.isEmpty)
        }
    }

    @Test("A database of a newer version is refused, untouched, and the message names the unknown migrations")
    func newer() throws {
        try second.migrate(try open())
        let before = try Data(contentsOf: URL(fileURLWithPath: path()))
        do {
            _ = try first.check(path: path())
            Issue.record("it was accepted")
        } catch let error as StoreError {
            #expect(error.code == .newerVersion)
            #expect(error.description.contains("a/2"))
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path())) == before)
        try open().execute("PRAGMA user_version=9")
        #expect(throws: StoreError(.newerVersion, "")) { _ = try second.check(path: path()) }
    }

    @Test("Tables of an application are no sign of a newer version")
    func applications() throws {
        let application = Migration("org.example.bot/1", "CREATE TABLE org_example_bot(id)")
        try Schema(applicationID: 77, migrations: first.migrations + [application]).migrate(try open())
        #expect(try first.check(path: path()) == .current)
        #expect(try first.unknownApplications(in: open()) == ["org.example.bot"])
        try second.migrate(try open())
        #expect(
            try Schema(applicationID: 77, migrations: second.migrations + [application]).check(path: path()) == .current
        )
    }

    @Test("A database of another program is refused")
    func foreign() throws {
        try open().execute("CREATE TABLE other(x)")
        #expect(throws: StoreError(.notOurs, "")) { _ = try first.check(path: path()) }
    }

    @Test("A migration that fails leaves the old content")
    func failing() throws {
        let broken = Schema(
            applicationID: 77,
            migrations: first.migrations + [Migration("a/2", "ALTER TABLE missing ADD COLUMN y")])
        let database = try open()
        try first.migrate(database)
        #expect(throws: StoreError.self) { try broken.migrate(database) }
        #expect(try first.state(of: database) == .current && broken.state(of: database) == .older)
    }

    @Test("A missing or empty file lacks everything")
    func missing() throws {
        #expect(try first.check(path: path()) == .empty)
        try Data().write(to: URL(fileURLWithPath: path()))
        #expect(try first.check(path: path()) == .empty)
    }
}
