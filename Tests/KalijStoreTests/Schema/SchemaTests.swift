import Foundation
import KalijStore
import TestSupport
import Testing

@Suite struct SchemaTests {
    let directory = try? ScratchDirectory()
    let first = Schema(applicationID: 77, migrations: ["CREATE TABLE a(x)"])
    let second = Schema(applicationID: 77, migrations: ["CREATE TABLE a(x)", "ALTER TABLE a ADD COLUMN y"])

    private func path() throws -> String { try #require(directory).file("a.db") }

    @Test("Migrations run once each, in order, from whatever version is there")
    func migrates() throws {
        let database = try Database(path: path(), durability: .process)
        try first.migrate(database)
        try database.run("INSERT INTO a VALUES (1)")
        try second.migrate(database)
        try second.migrate(database)
        #expect(try second.version(of: database) == 2)
        #expect(try database.prepare("SELECT x, y FROM a").first { $0.integer(0) } == 1)
    }

    @Test("A database of a newer version is refused, untouched, and the message says both versions")
    func newer() throws {
        do {
            let database = try Database(path: path(), durability: .process)
            try second.migrate(database)
        }
        let before = try Data(contentsOf: URL(fileURLWithPath: path()))
        do {
            _ = try first.check(path: path())
            Issue.record("it was accepted")
        } catch let error as StoreError {
            #expect(error.code == .newerVersion)
            #expect(error.description.contains("version 2") && error.description.contains("up to 1"))
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path())) == before)
    }

    @Test("A database of another program is refused")
    func foreign() throws {
        do {
            let database = try Database(path: path(), durability: .process)
            try database.execute("CREATE TABLE other(x)")
        }
        #expect(throws: StoreError(.notOurs, "")) { _ = try first.check(path: path()) }
    }

    @Test("A migration that fails leaves the version before")
    func failing() throws {
        let broken = Schema(applicationID: 77, migrations: ["CREATE TABLE a(x)", "ALTER TABLE missing ADD COLUMN y"])
        let database = try Database(path: path(), durability: .process)
        try first.migrate(database)
        #expect(throws: StoreError.self) { try broken.migrate(database) }
        #expect(try first.version(of: database) == 1)
    }

    @Test("A missing or empty file has version 0")
    func missing() throws {
        #expect(try first.check(path: path()) == 0)
        try Data().write(to: URL(fileURLWithPath: path()))
        #expect(try first.check(path: path()) == 0)
    }
}
