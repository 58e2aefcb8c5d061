import KalijStore

/// All tables that are no feature's, in the order of the migrations.
package enum CoreTables {
    package static let migrations =
        AccountTables.migrations + SessionTables.migrations + StepTables.migrations + LinkTables.migrations
}

/// The tables for steps: slow steps, the barrier, the steady time.
package enum StepTables {
    package static let migrations = [
        Migration(
            "step/1", version: 1,
            """
            CREATE TABLE slow_step(kind TEXT PRIMARY KEY, count INTEGER NOT NULL, longest INTEGER NOT NULL) WITHOUT ROWID;

            \(Barrier.schema);
            """),
        Migration(
            "step/2", version: 2,
            """
            -- What is to be added to the time since the machine was started, in milliseconds, so that deadlines go by it; and the
            -- latest such time that was written down.
            CREATE TABLE clock(
                id INTEGER PRIMARY KEY CHECK (id = 1),
                boot TEXT NOT NULL,             -- which start of the machine
                base INTEGER NOT NULL,
                last INTEGER NOT NULL);
            """),
    ]
}
