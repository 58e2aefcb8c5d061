import KalijStore

/// The tables of an application, within the transaction of a step: what is changed here is committed with the step, or not at all.
///
/// A feature's migrations make them (``Feature/migrations``). Their names, and those of their indexes, begin with the feature's name,
/// with underscores for full stops and hyphens: `org_example_bot`, `org_example_bot_answer`. So no version of Kalij ever has a table of
/// such a name. Other tables cannot be read here nor changed, and the transaction cannot be ended.
///
/// A column that `REFERENCES account(id) ON DELETE CASCADE` lets the row go with the account; ``Account/id`` is its value.
///
/// All of these throw `StoreError`: `.notAllowed` for a statement that does more than that, `.constraint` if a constraint does not hold,
/// and what the machine cannot do. That one is to be passed on: it makes the step void, which is tried again when there is room.
public struct ApplicationTables {
    private let database: Database

    init(_ database: Database) { self.database = database }

    /// Runs a statement; `values` are those of its parameters, in order.
    /// - Returns: how many rows it has changed.
    /// - Throws: `StoreError`
    @discardableResult
    public func run(_ sql: StaticString, _ values: [Value] = []) throws -> Int {
        try database.applicationStatement(sql).run(values)
        return database.changes
    }

    /// The first row that a statement gives, as `body` reads it; nil if it gives none.
    /// - Throws: `StoreError`, or what `body` throws.
    public func first<Result>(
        _ sql: StaticString, _ values: [Value] = [], _ body: (Row) throws -> Result
    ) throws -> Result? {
        try database.applicationStatement(sql).first(values, body)
    }

    /// All rows that a statement gives, as `body` reads them.
    /// - Throws: `StoreError`, or what `body` throws.
    public func all<Result>(
        _ sql: StaticString, _ values: [Value] = [], _ body: (Row) throws -> Result
    ) throws -> [Result] {
        try database.applicationStatement(sql).all(values, body)
    }

    /// The number (rowid) of the row that was inserted last.
    public var lastInsertedRow: Int64 { database.lastInsertedRow }
}

extension Step {
    /// The application's own tables.
    public var tables: ApplicationTables { ApplicationTables(database) }
}
