import KalijStore

/// Whether there is any work for files. Most accounts have none most of the time, and then no further query runs, and no memory is
/// spent on prepared statements.
package enum PendingFileWork {
    /// - Throws: `StoreError`
    package static func isAny(in database: Database) throws -> Bool {
        try database.statement(
            """
            SELECT EXISTS (SELECT 1 FROM upload) OR EXISTS (SELECT 1 FROM file_garbage)
                OR EXISTS (SELECT 1 FROM attachment INDEXED BY attachment_wanted WHERE state = 'wanted')
                OR EXISTS (SELECT 1 FROM attachment WHERE path >= 'out/' AND path < 'out0') AS found
            """
        ).first { $0.bool("found") } ?? false
    }
}
