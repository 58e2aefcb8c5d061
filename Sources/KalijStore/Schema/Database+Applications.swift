extension Database {
    /// The statement for `sql` of an application, which may read and change rows of the tables of applications, and nothing else.
    /// - Throws: `StoreError`, `.notAllowed` for a statement that does more.
    package func applicationStatement(_ sql: StaticString) throws -> Statement {
        try statements.applications.statement(UInt(bitPattern: sql.utf8Start)) {
            try confined(to: .rows(of: try Schema.applications(in: self))) {
                try Statement(sql.description, on: handle, persistent: true)
            }
        }
    }
}
