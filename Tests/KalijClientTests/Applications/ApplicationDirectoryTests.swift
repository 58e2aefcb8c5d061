import KalijHandlers
import KalijCoordination
import KalijStore
import TestSupport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Who may drive a directory in which an application has tables and handlers, and what an application may add to it.
@Suite struct ApplicationDirectoryTests {
    private let scratch: ScratchDirectory
    private var directory: AccountDirectory { AccountDirectory(scratch.path) }

    init() throws {
        scratch = try ScratchDirectory()
        _ = try directory.open(.machine, role: .share, now: 1)
    }

    /// Drives for a moment.
    private func drive(_ features: [any Feature.Type]) throws {
        let driven = try directory.drive(role: .main, now: 1, schema: .accounts(features))
        try driven.fence.letGo(driven.database)
    }

    private enum Plain: Feature { static let name = "org.example.plain" }

    private enum Older: Feature {
        static let name = "org.example.grown"
        static var migrations: [Migration] { [first] }
        static let first = Migration(
            "org.example.grown/1", "CREATE TABLE org_example_grown(a); INSERT INTO org_example_grown VALUES (1)")
    }

    private enum Newer: Feature {
        static let name = "org.example.grown"
        static var migrations: [Migration] {
            [
                Older.first,
                Migration(
                    "org.example.grown/2",
                    """
                    ALTER TABLE org_example_grown ADD COLUMN b;
                    CREATE INDEX org_example_grown_b ON org_example_grown(b);
                    UPDATE org_example_grown SET b = a + 1;
                    CREATE TABLE org_example_grown_more(id INTEGER PRIMARY KEY AUTOINCREMENT, c UNIQUE);
                    CREATE TRIGGER org_example_grown_copy AFTER INSERT ON org_example_grown
                        BEGIN INSERT INTO org_example_grown_more(c) VALUES (new.a); END;
                    INSERT INTO org_example_grown VALUES (5, 6);
                    """),
            ]
        }
    }

    @Test(
        "an application's migrations are made once and in order, also in a directory that is older than the application"
    )
    func migrations() throws {
        try drive([])
        try drive([Older.self])
        try drive([Older.self])
        #expect(try directory.read().prepare("SELECT a FROM org_example_grown").all { $0.integer() } == [1])
        try drive([Newer.self, Plain.self])
        let rows = try directory.read().prepare("SELECT b FROM org_example_grown ORDER BY a").all { $0.integer() }
        #expect(rows == [2, 6])
        #expect(try directory.read().prepare("SELECT c FROM org_example_grown_more").all { $0.integer() } == [5])
    }

    @Test(
        "who lacks an application's feature does not drive, whether or not it has tables; nothing changes, others work")
    func lacking() throws {
        try drive([Plain.self, Newer.self])
        for features: [any Feature.Type] in [[], [Plain.self], [Newer.self], [Plain.self, Older.self]] {
            let error = #expect(throws: DirectoryError.self) { try drive(features) }
            let names = error.map { "\($0)" } ?? ""
            #expect(names.contains("org.example.") && names.contains("only that application"), "\(names)")
            #expect(throws: DirectoryError.self) {
                var options = Engine.Options()
                options.features = features
                _ = try Engine(directory, options: options) { _ in }
            }
        }
        // Passive ones.
        #expect(try AccountTable(directory.read()).all().isEmpty)
        #expect(try AccountTable(directory.open(.machine, role: .share, now: 1)).all().isEmpty)
        #expect(try !directory.drive(role: .main, now: 1, schema: .accounts([Plain.self, Newer.self])).careful)
    }

    @Test("an application that drives is not asked to stop by a process that lacks it, which takes its push there")
    func drivenElsewhere() throws {
        let owner = try directory.drive(role: .main, now: 1, schema: .accounts([Plain.self]))
        for role in [Role.main, .background] {
            var taking = DriverTakeover(directory: directory, role: role, clock: .system)
            #expect(throws: FenceError.self) { try taking.turn() }
        }
        var taking = DriverTakeover(directory: directory, role: .wake, clock: .system)
        if case .driven = try taking.turn() { Issue.record("it drives") }
        try owner.fence.check(owner.database)
        try owner.fence.letGo(owner.database)
        var last = DriverTakeover(directory: directory, role: .wake, clock: .system)
        #expect(throws: DirectoryError.self) { try last.turn() }
    }

    private enum Colliding: Feature {
        static let name = "org.example.colliding"
        @TaskLocal static var script = ""
        static var migrations: [Migration] { [Migration("org.example.colliding/1", script)] }
    }

    @Test("an application's migration changes its own tables alone, and says which those are")
    func foreignTables() throws {
        for script in [
            "CREATE TABLE message(a)", "CREATE TABLE counts(a)", "DROP TABLE message",
            "ALTER TABLE message ADD COLUMN a",
            "CREATE INDEX org_example_colliding_i ON message(body)", "DELETE FROM message", "COMMIT",
            "CREATE TABLE org_example_colliding(a); CREATE INDEX i ON org_example_colliding(a)",
            "CREATE TRIGGER org_example_colliding_t AFTER INSERT ON message BEGIN SELECT 1; END",
        ] {
            let error = #expect(throws: StoreError.self) {
                try Colliding.$script.withValue(script) { try drive([Colliding.self]) }
            }
            #expect(error?.code == .notAllowed, "\(script): \(String(describing: error))")
            if script.hasPrefix("CREATE TABLE c") {
                #expect(error?.message.contains("begin with: org_example_colliding") ?? false)
            }
        }
        // Nothing of it has happened.
        try drive([])
    }

    private enum Reserved: Feature {
        @TaskLocal static var name = ""
    }

    @Test(
        "a feature whose tables could have the names of Kalij's or of SQLite's is refused",
        arguments: [
            ("message.gone", "message"), ("room.member", "room"), ("Room-Member.bot", "room"),
            ("search.text.data", "search_text"),
            ("omemo.session", "omemo_session"), ("event.example.bot", "event"), ("sqlite.bot", "sqlite"),
            ("fence.bot", "fence"),
            ("barrier.a", "barrier"), ("tls.ticket", "tls_ticket"),
        ])
    func reserved(name: String, table: String) {
        Reserved.$name.withValue(name) {
            #expect(throws: FeatureError.reserved(name, table: table)) { try Features([Reserved.self]) }
        }
    }

    @Test("each table of a directory is known to that check")
    func allTables() throws {
        let database = try directory.open(.machine, role: .share, now: 1)
        let tables = try database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all { $0.text() }
        #expect(tables.count > 60)
        for table in tables where !table.hasPrefix("sqlite_") {
            Reserved.$name.withValue(table.replacing("_", with: ".") + ".x") {
                #expect(throws: FeatureError.self, "\(table)") { try Features([Reserved.self]) }
            }
        }
    }

    private enum Nameless: Feature { static let name = "bot" }
    private enum Crooked: Feature { static let name = "org..bot" }
    private enum Same: Feature { static let name = "org.example.plain" }
    private enum Impostor: Feature {
        static let name = "org.example.impostor"
        static let handlerPrefix = "messages"
    }
    private enum Wrong: Feature {
        static let name = "org.example.wrong"
        static let migrations = [Migration("messages/9", "")]
    }
    private enum WrongHandler: Feature {
        static let name = "org.example.wrong"
        static var handlers: [any Handler<Step>.Type] { [Log.Rung.self] }
    }

    @Test("names that are taken, or not the feature's own, are refused with what is wrong")
    func names() {
        #expect(throws: FeatureError.badName("bot")) { try Features([Nameless.self]) }
        #expect(throws: FeatureError.badName("org..bot")) { try Features([Crooked.self]) }
        #expect(throws: FeatureError.taken("org.example.plain")) { try Features([Plain.self, Same.self]) }
        #expect(throws: FeatureError.taken("org.example.impostor")) { try Features([Impostor.self]) }
        #expect(throws: FeatureError.foreignName("messages/9", feature: "org.example.wrong")) {
            try Features([Wrong.self])
        }
        #expect(throws: FeatureError.foreignName("log.rung", feature: "org.example.wrong")) {
            try Features([WrongHandler.self])
        }
    }
}
