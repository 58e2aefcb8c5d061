import KalijCore
import KalijStore

/// The status of the reading of an archive, for human readers.
package struct ArchiveStatus {
    package let archive: Archive
    package let phase: ArchiveSyncState.Phase
    /// The phase as stored, by any version.
    package let storedPhase: String
    /// Why the archive was not read to its end; nil if it was, or if the reading is in progress.
    package let problem: String?
    /// Where the first reading begins, in milliseconds since 1970; 0 if the archive has no earlier messages.
    package let since: Int64

    /// The status of each archive of the account that is or was read.
    package static func all(of account: Int64, in database: Database) throws -> [ArchiveStatus] {
        try database.statement("SELECT archive, phase, problem, since FROM catchup WHERE account = ?")
            .all([.integer(account)]) {
                let phase = $0.text("phase")
                return ArchiveStatus(
                    archive: Archive(key: $0.text("archive")), phase: ArchiveSyncState.Phase(rawValue: phase) ?? .done,
                    storedPhase: phase, problem: $0.optionalText("problem"), since: $0.integer("since"))
            }
    }

    /// Whether the end of any account's own archive is being read, or of a room's. A room's reading counts only while a query is open:
    /// a reading is not continued after the account has left the room.
    package static func isReading(in database: Database) throws -> Bool {
        try database.statement(
            "SELECT 1 FROM catchup WHERE phase <> ? AND (archive = ? OR request IS NOT NULL) LIMIT 1"
        )
        .first([.state(ArchiveSyncState.Phase.done), .text(Archive.own.key)]) { _ in true } ?? false
    }

    /// The outcome of the last backfill of `archive`; nil if there was none.
    /// - Returns: the number of new messages; and nil while the backfill is in progress, else why it ended early, empty if it was
    ///   completed.
    package static func fetching(
        of account: Int64, _ archive: Archive = .own, in database: Database
    ) throws -> (messages: Int, outcome: String?)? {
        try database.statement("SELECT outcome, stored FROM filling WHERE account = ? AND archive = ?")
            .first([.integer(account), .text(archive.key)]) {
                (Int($0.integer("stored")), $0.optionalText("outcome"))
            }
    }
}
