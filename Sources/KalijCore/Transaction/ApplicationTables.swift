import KalijStore

/// The tables of an application, within the transaction of a step: a change here is committed with the step, or not at all.
///
/// A feature's migrations create the tables (``Feature/migrations``). The names of tables and indexes begin with the feature's
/// name, with underscores for full stops and hyphens: `org_example_bot`, `org_example_bot_answer`. No version of Kalij has a
/// table with such a name. Other tables can be neither read nor changed here, and the transaction cannot be ended.
///
/// A column declared `REFERENCES account(id) ON DELETE CASCADE`, with ``Account/id`` as its value, deletes the row together with
/// the account.
///
/// All of these throw `StoreError`: `.notAllowed` for a statement that exceeds these limits, `.constraint` if a constraint fails,
/// and an error of the machine otherwise. Rethrow an error of the machine: it rolls the step back, and the step is retried once
/// storage is available.
public struct ApplicationTables {
    private let database: Database

    init(_ database: Database) { self.database = database }

    /// Executes a statement; `values` are those of its parameters, in order.
    /// - Returns: the number of changed rows.
    /// - Throws: `StoreError`
    @discardableResult
    public func run(_ sql: StaticString, _ values: [Value] = []) throws -> Int {
        try database.applicationStatement(sql).run(values)
        return database.changes
    }

    /// The first row that a statement returns, as `body` reads it; nil if it returns none.
    /// - Throws: `StoreError`, or what `body` throws.
    public func first<Result>(
        _ sql: StaticString, _ values: [Value] = [], _ body: (Row) throws -> Result
    ) throws -> Result? {
        try database.applicationStatement(sql).first(values, body)
    }

    /// All rows that a statement returns, as `body` reads them.
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
