import Foundation
import KalijStore
import TestSupport
import Testing

@Suite struct DatabaseTests {
    let directory = try? ScratchDirectory()

    private func database(_ name: String = "a.db", _ durability: Database.Durability = .process) throws -> Database {
        try Database(path: try #require(directory).file(name), durability: durability, busySeconds: 0.2)
    }

    @Test("A transaction that throws is rolled back as a whole")
    func rollback() throws {
        struct Refused: Error {}
        let database = try database()
        try database.execute("CREATE TABLE t(a)")
        #expect(throws: Refused.self) {
            try database.transaction {
                try database.run("INSERT INTO t VALUES (1)")
                throw Refused()
            }
        }
        try database.transaction { try database.run("INSERT INTO t VALUES (2)") }
        #expect(try database.prepare("SELECT a FROM t").all { $0.integer() } == [2])
    }

    @Test("Bound values come back: text with NULs and any Unicode, blobs, integers, NULL, empty values")
    func values() throws {
        let database = try database()
        try database.execute("CREATE TABLE t(a, b, c, d, e, f)")
        try database.run(
            "INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)",
            [.text("a\u{0}ß😀"), .blob([0, 255]), .integer(.min), .null, .text(""), .blob([])])
        let row = try database.prepare("SELECT a, b, c, d, e, f FROM t").first { row in
            (
                row.text("a"), row.blob("b"), row.integer("c"), row.optionalText("d"), row.optionalText("e"),
                row.optionalBlob("f")
            )
        }
        let (text, blob, integer, null, empty, none) = try #require(row)
        #expect(text == "a\u{0}ß😀")
        #expect(blob == [0, 255])
        #expect(integer == .min)
        #expect(null == nil)
        #expect(empty == "")
        #expect(none == [])
    }

    @Test("Columns are read by their names in the result, in any order, row after row")
    func names() throws {
        let database = try database()
        let statement = try database.statement(
            "WITH n(x) AS (VALUES (1), (2)) SELECT x AS first, x * 10 AS \"second one\", count(*) OVER () FROM n")
        let rows = try statement.all { row in
            [
                row.integer("second one"), row.integer("first"), row.integer("second one"),
                row.integer("count(*) OVER ()"),
            ]
        }
        #expect(rows == [[10, 1, 10, 2], [20, 2, 20, 2]])
        #expect(try statement.all { $0.integer() } == [1, 2])
    }

    @Test(
        "Bound values are lent for one run: none is left for the next run, after an end, an error or a smaller binding"
    )
    func lent() throws {
        struct Stop: Error {}
        let database = try database()
        let statement = try database.statement("SELECT ?1 AS text, ?2 AS blob, ?3 AS other")
        for length in [1, 15, 16, 100, 100_000] {
            let values: [Value] = [
                .text(String(repeating: "x", count: length)), .blob([UInt8](repeating: 7, count: length)),
                .text("ü\u{0}"),
            ]
            let read = try statement.first(values) { row -> [Value] in
                [.text(row.text("text")), .blob(row.blob("blob")), .text(row.text("other"))]
            }
            #expect(read == values)
            #expect(throws: Stop.self) { try statement.each(values) { _ in throw Stop() } }
            #expect(try statement.first { $0.isNull("text") && $0.isNull("blob") && $0.isNull("other") } == true)
            #expect(try statement.first([.text("y")]) { $0.isNull("blob") && $0.text("text") == "y" } == true)
        }
        #expect(throws: StoreError.self) { try statement.run([1, 2, 3, "one too many"]) }
        #expect(try statement.first { $0.isNull("text") && $0.isNull("blob") && $0.isNull("other") } == true)
    }

    @Test("A value is never part of the statement")
    func injection() throws {
        let database = try database()
        try database.execute("CREATE TABLE t(a)")
        try database.run("INSERT INTO t VALUES (?)", [.text("'); DROP TABLE t; --")])
        #expect(try database.prepare("SELECT a FROM t").first { $0.text() } == "'); DROP TABLE t; --")
    }

    @Test("A reader sees the last commit and never waits for a writer")
    func readers() throws {
        let writer = try database()
        try writer.execute("CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        let reader = try Database(reading: writer.path)
        try writer.transaction {
            try writer.run("UPDATE t SET a = 2")
            #expect(try reader.prepare("SELECT a FROM t").first { $0.integer() } == 1)
        }
        #expect(try reader.prepare("SELECT a FROM t").first { $0.integer() } == 2)
    }

    @Test("A second writer waits, then gives up as busy, which is the machine's fault")
    func busy() throws {
        let first = try database()
        let second = try database()
        try first.execute("CREATE TABLE t(a)")
        try first.transaction { () -> Void in
            #expect(throws: StoreError(.busy, "")) { try second.run("INSERT INTO t VALUES (1)") }
        }
        #expect(StoreError(.busy, "").isMachineError)
        try second.run("INSERT INTO t VALUES (1)")
    }

    @Test("A full disk is an error of the machine, the step is rolled back, and goes through when there is room")
    func full() throws {
        let database = try database()
        try database.execute("CREATE TABLE t(a)")
        try database.execute("PRAGMA max_page_count=3")
        #expect(throws: StoreError(.full, "")) {
            try database.transaction {
                for _ in 0..<100 {
                    try database.run("INSERT INTO t VALUES (?)", [.blob([UInt8](repeating: 7, count: 4000))])
                }
            }
        }
        #expect(try database.prepare("SELECT count(*) FROM t").first { $0.integer() } == 0)
        try database.execute("PRAGMA max_page_count=1000000")
        try database.run("INSERT INTO t VALUES (1)")
    }

    @Test("Memory is released while a statement is in use, which goes on")
    func release() throws {
        let database = try database()
        try database.execute("CREATE TABLE t(a); INSERT INTO t VALUES (1), (2), (3)")
        _ = try database.statement("SELECT count(*) FROM t").first { $0.integer() }
        var seen: [Int64] = []
        try database.statement("SELECT a FROM t ORDER BY a").each { row in
            database.releaseMemory()
            seen.append(row.integer())
        }
        #expect(seen == [1, 2, 3])
        #expect(try database.statement("SELECT count(*) FROM t").first { $0.integer() } == 3)
    }

    @Test("Database and log are readable by their owner alone")
    func permissions() throws {
        let database = try database()
        try database.execute("CREATE TABLE t(a)")
        for name in ["a.db", "a.db-wal"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: try #require(directory).file(name))
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test(
        "Opening a second connection does not take the first connection's locks away, so no other process deletes its log"
    )
    func locks() throws {
        let first = try database()
        try first.execute("CREATE TABLE t(a)")
        do { _ = try database("a.db", .machine) }
        // Judging by the locks, the shell is the last to close, unless our locks are still held.
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
        shell.arguments = [first.path, "INSERT INTO t VALUES (1)"]
        try shell.run()
        shell.waitUntilExit()
        #expect(shell.terminationStatus == 0)
        try first.run("INSERT INTO t VALUES (2)")
        let reader = try Database(reading: first.path)
        #expect(try reader.prepare("SELECT a FROM t ORDER BY a").all { $0.integer() } == [1, 2])
    }

    @Test("Garbage instead of a database is refused and left unchanged")
    func garbage() throws {
        let path = try #require(directory).file("garbage.db")
        let bytes = Data((0..<8192).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try bytes.write(to: URL(fileURLWithPath: path))
        #expect(throws: StoreError(.notOurs, "")) { _ = try Database(path: path, durability: .process) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
    }

    @Test("An error names the attempted operation")
    func message() throws {
        let database = try database()
        do {
            try database.run("SELECT a FROM nowhere")
            Issue.record("it did not throw")
        } catch {
            #expect(error.code == .other)
            #expect(error.description.contains("SELECT a FROM nowhere"))
            #expect(error.description.contains("no such table"))
        }
    }
}
