import KalijSteps
import KalijStore

/// How the reading of an archive stands, for people.
package struct ArchiveStatus {
    package let archive: Archive
    package let phase: ArchiveSyncState.Phase
    /// The phase as it is stored, by whatever version.
    package let storedPhase: String
    /// Why the archive was not read to its end; nil if it was, or is being read.
    package let problem: String?
    /// Where to begin if nothing was read yet, in milliseconds since 1970; 0 if the archive had nothing before.
    package let since: Int64

    /// Of all archives that are read, or were.
    package static func all(of account: Int64, in database: Database) throws -> [ArchiveStatus] {
        try database.prepare("SELECT archive, phase, problem, since FROM catchup WHERE account = ?")
            .all([.integer(account)]) {
                let phase = $0.text("phase")
                return ArchiveStatus(
                    archive: Archive(key: $0.text("archive")), phase: ArchiveSyncState.Phase(rawValue: phase) ?? .done,
                    storedPhase: phase, problem: $0.optionalText("problem"), since: $0.integer("since"))
            }
    }

    /// Whether the end of some account's archive is being read, or of a room's: that of a room which the account has left
    /// is not gone on with.
    package static func isReading(in database: Database) throws -> Bool {
        try database.statement(
            "SELECT 1 FROM catchup WHERE phase <> ? AND (archive = ? OR request IS NOT NULL) LIMIT 1"
        )
        .first([.state(ArchiveSyncState.Phase.done), .text(Archive.own.key)]) { _ in true } ?? false
    }

    /// What became of the last fetching of older history from the account's own archive; nil if there was none.
    /// - Returns: how many messages it has brought that were not there; and nil while it goes on, else why it ended before its time,
    ///   empty if it did not.
    package static func fetching(
        of account: Int64, in database: Database
    ) throws -> (messages: Int, outcome: String?)? {
        try database.prepare("SELECT outcome, stored FROM filling WHERE account = ? AND archive = ?")
            .first([.integer(account), .text(Archive.own.key)]) {
                (Int($0.integer("stored")), $0.optionalText("outcome"))
            }
    }

    /// The ids of the questions to archives that are open. An answer carries the id of its question.
    package static func openQuestions(of account: Int64, in database: Database) throws -> [String] {
        try database.statement(
            """
            SELECT query_id FROM catchup WHERE account = ?1 AND query_id IS NOT NULL
            UNION SELECT query_id FROM filling WHERE account = ?1 AND query_id IS NOT NULL
            """
        ).all([.integer(account)]) { $0.text() }
    }
}
