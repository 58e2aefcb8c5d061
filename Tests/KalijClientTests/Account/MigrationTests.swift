import Foundation
import KalijAddress
import KalijCoordination
import KalijStore
import Synchronization
import TestSupport
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Rules.md, durability 12: migrations are transactions, run under the fence, tested with a database of every released version.
struct MigrationTests {
    private let scratch: ScratchDirectory
    private var directory: AccountDirectory { AccountDirectory(scratch.path) }

    init() throws { scratch = try ScratchDirectory() }

    private func files() throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: scratch.path) {
            files[name] = try Data(contentsOf: URL(fileURLWithPath: scratch.file(name)))
        }
        return files
    }

    private func run(_ sql: String) throws {
        let database = try Database(path: directory.databasePath, durability: .process)
        try database.execute(sql)
    }

    @Test("a fresh directory is made for its user alone, and the fence is given back")
    func fresh() throws {
        let directory = AccountDirectory(scratch.file("a/b"))
        #expect(throws: DirectoryError.self) { _ = try directory.read() }
        let database = try directory.open(.machine, role: .share, now: 1)
        #expect(try AccountTable(database).all().isEmpty)
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.databasePath)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try directory.drive(role: .main, now: 2).careful == false)
    }

    @Test("a database of a newer version is refused and stays as it is, byte for byte")
    func newer() throws {
        _ = try directory.open(.machine, role: .share, now: 1)
        try run("PRAGMA user_version=99; PRAGMA wal_checkpoint(TRUNCATE)")
        let before = try files()[("kalij.db")]
        let refused = StoreError(.newerVersion, "")
        #expect(throws: refused) { _ = try directory.open(.machine, role: .share, now: 1) }
        #expect(throws: refused) { _ = try directory.read() }
        #expect(throws: refused) { _ = try directory.drive(role: .main, now: 1) }
        #expect(try files()["kalij.db"] == before)
    }

    @Test("another program's database, and a file that is no database, are refused and stay unchanged")
    func foreign() throws {
        try run("PRAGMA journal_mode=DELETE; CREATE TABLE theirs(a); INSERT INTO theirs VALUES (1)")
        var before = try files()
        let refused = StoreError(.notOurs, "")
        #expect(throws: refused) { _ = try directory.open(.machine, role: .share, now: 1) }
        #expect(throws: refused) { _ = try directory.drive(role: .main, now: 1) }
        #expect(try files() == before)
        try Data("a letter, no database".utf8).write(to: URL(fileURLWithPath: directory.databasePath))
        before = try files()
        #expect(throws: refused) { _ = try directory.open(.machine, role: .share, now: 1) }
        #expect(try files() == before)
    }

    @Test("a damaged database is refused with a message")
    func corrupt() throws {
        _ = try directory.open(.machine, role: .share, now: 1)
        try run("PRAGMA wal_checkpoint(TRUNCATE)")
        var bytes = try Data(contentsOf: URL(fileURLWithPath: directory.databasePath))
        bytes.replaceSubrange(100..<4096, with: Data(repeating: 0xA5, count: 3996))
        try bytes.write(to: URL(fileURLWithPath: directory.databasePath))
        #expect(throws: StoreError(.corrupt, "")) { _ = try directory.open(.machine, role: .share, now: 1) }
    }

    @Test("after a kill between the fence's table and the migration, the next process migrates")
    func killedInBetween() throws {
        try run("BEGIN; PRAGMA application_id=\(Schema.accounts.applicationID); \(Fence.schema); COMMIT")
        #expect(throws: DirectoryError.self) { _ = try directory.read() }
        let database = try directory.open(.machine, role: .share, now: 1)
        #expect(try Schema.accounts.state(of: database) == .current)
    }

    @Test("a migration does not hide from the next driver that the last driver died")
    func diedBefore() throws {
        try run("BEGIN; PRAGMA application_id=\(Schema.accounts.applicationID); \(Fence.schema); COMMIT")
        try run("INSERT INTO fence VALUES (1, 5, 'main', 1, 0, 0)")
        _ = try directory.open(.machine, role: .share, now: 1)
        #expect(try directory.drive(role: .main, now: 2).careful)
    }

    @Test("while another process drives a database of an older version nobody migrates it")
    func driven() throws {
        try run("BEGIN; PRAGMA application_id=\(Schema.accounts.applicationID); \(Fence.schema); COMMIT")
        let database = try Database(path: directory.databasePath, durability: .process)
        let taken = try Fence.take(in: database, lockPath: directory.lockPath, role: .main, now: 1)
        #expect(throws: FenceError.self) { _ = try directory.open(.machine, role: .share, now: 1) }
        #expect(try Schema.accounts.state(of: database) == .empty)
        try taken.fence.letGo(database)
    }

    @Test("the first that reads a database of an older version migrates it, and says so once")
    func readFirst() throws {
        try run(try Self.fixture(1))
        let told = Mutex(0)
        var directory = directory
        directory.willMigrate = { told.withLock { $0 += 1 } }
        #expect(try Schema.accounts.check(path: directory.databasePath) == .older)
        for _ in 0..<2 {
            #expect(try AccountTable(directory.read()).all().count == 1)
        }
        #expect(try Schema.accounts.check(path: directory.databasePath) == .current)
        #expect(told.withLock { $0 } == 1)
        #expect(try !directory.drive(role: .main, now: 2).careful)
    }

    @Test("while another process drives it, a database of an older version is read as it is")
    func readDriven() throws {
        try run(try Self.fixture(2))
        let database = try Database(path: directory.databasePath, durability: .process)
        let taken = try Fence.take(in: database, lockPath: directory.lockPath, role: .main, now: 1)
        #expect(try directory.read().statement("SELECT 1 FROM account").first { _ in true } != nil)
        #expect(try Schema.accounts.state(of: database) == .older)
        try taken.fence.letGo(database)
    }

    @Test("a database of version 1 is opened with everything in it")
    func version1() throws {
        try run(try Self.fixture(1))
        let database = try directory.open(.machine, role: .share, now: 1)
        #expect(try Schema.accounts.state(of: database) == .current)
        let account = try AccountTable(database).account(try JID("juliet@example.org"), in: directory)
        #expect((account.resource, account.pins.mechanism) == ("balcony", .plain))
        let messages = try HistoryReader(database).messages(of: account, with: nil, limit: 9)
        #expect(messages.map(\.body) == ["Art thou not Romeo?", "Neither, fair maid", "What man art thou?"])
        #expect(messages.map(\.state) == [.acked, nil, .queued])
        #expect(try OutboundQueue(database: database, account: account.id).isAny(besides: []))
        let status = try #require(try StatusReader(directory, database).accounts().first)
        #expect((status.storedMessages, status.queuedMessages, status.queuedStanzas) == (3, 1, 1))
        #expect(try SessionRow.load(account.id, from: database).handled.value == 4_294_967_290)
        #expect(try StatusReader(directory, database).quarantined().map(\.reason) == ["over the limit on depth"])
    }

    /// The fixture was written by the command of version 2, with a real server.
    @Test("a database of version 2 is opened with everything in it, and its session can be resumed")
    func version2() throws {
        try run(try Self.fixture(2))
        let database = try directory.open(.machine, role: .share, now: 1)
        #expect(try Schema.accounts.state(of: database) == .current)
        let account = try AccountTable(database).account(try JID("alice@localhost"), in: directory)
        let messages = try HistoryReader(database).messages(of: account, with: nil, limit: 100)
        #expect(messages.count { $0.direction == .incoming } == 64)
        #expect(messages.count { $0.state == .acked } == 13)
        let status = try #require(try StatusReader(directory, database).accounts().first)
        #expect((status.storedMessages, status.queuedMessages, status.unsettledMessages) == (77, 0, 0))
        let session = try SessionRow.load(account.id, from: database)
        #expect(session.resumeID != nil && session.handled.value == 154)
        let log = try EventLog(directory)
        #expect(try log.last == 40103)
        let events = try log.events(after: 0, limit: 500)
        #expect(events.count == 103 && events.last?.number == 40103)
    }

    @Test("an application's tables are made with its first engine, and its directory can be read without it")
    func application() throws {
        enum Bot: Feature {
            static let name = "org.example.bot"
            static let migrations = [
                Migration("org.example.bot/1", "CREATE TABLE org_example_bot_answer(id INTEGER PRIMARY KEY)")
            ]
        }
        _ = try directory.open(.machine, role: .share, now: 1)
        let driven = try directory.drive(role: .main, now: 1, schema: .accounts([Bot.self]))
        try driven.database.run("INSERT INTO org_example_bot_answer VALUES (1)")
        try driven.fence.letGo(driven.database)
        #expect(try AccountTable(directory.read()).all().isEmpty)
        #expect(try Schema.accounts.state(of: directory.read()) == .current)
    }

    /// Names, columns and indexes of all tables.
    private func shape(_ database: Database) throws -> [String] {
        let columns = try database.prepare(
            """
            SELECT s.name || '.' || c.name || ' ' || c.type || ' ' || c."notnull" || ' ' || c.pk
            FROM sqlite_schema s JOIN pragma_table_info(s.name) c WHERE s.type = 'table' ORDER BY 1
            """
        ).all { $0.text() }
        let indexes = try database.prepare("SELECT sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
            .all { $0.text().split(whereSeparator: \.isWhitespace).joined(separator: " ") }
        return columns + indexes.sorted()
    }

    @Test(
        "a migrated database of an earlier version has the very tables of a fresh database", arguments: [1, 2])
    func sameShape(version: Int) throws {
        try run(try Self.fixture(version))
        let fresh = AccountDirectory(scratch.file("fresh"))
        let migrated = try shape(try directory.open(.machine, role: .share, now: 1))
        let made = try shape(try fresh.open(.machine, role: .share, now: 1))
        let (more, fewer) = (migrated.filter { !made.contains($0) }, made.filter { !migrated.contains($0) })
        #expect(more == [])
        #expect(fewer == [])
    }

    private static func fixture(_ version: Int) throws -> String {
        let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Fixtures/version\(version).sql")
        return try String(contentsOf: fixture, encoding: .utf8)
    }
}
