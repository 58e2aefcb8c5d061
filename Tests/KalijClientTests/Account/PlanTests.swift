import KalijCoordination
import KalijStore
import TestSupport
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// No command and no step may grow with the stored data: every statement in the sources is a search by index.
struct PlanTests {
    /// Tables that do not grow with the stored data.
    private static let small: Set = [
        // A single row, a row for each account, or a row for each archive.
        "account", "session", "fence", "barrier", "shared", "slow_step", "attempt", "catchup", "filling", "receiver",
        "shelf", "clock", "server_time", "sqlite_sequence", "search_progress", "node",
        "sqlite_schema", "sqlite_master", "event_forgotten", "message_gone",
        // Only the newest thousand rows are kept.
        "quarantine", "question", "intent", "dead_letter", "capability", "subscription_request",
        // At most eight rows; of an account, at most two, one and sixteen.
        "profile_change", "login_token", "tls_ticket", "endpoint",
        // A hundred rows of an account are kept.
        "failed_result",
        // A row for each account, or a few hundred.
        "omemo_device", "omemo_own", "omemo_signed", "omemo_prekey",
        // Rows live for seconds.
        "letter", "reply",
        // The values of a statement, and what is found for them.
        "json_each", "named", "found",
    ]

    /// Statements that walk on purpose.
    private struct Exception {
        let reason: String
        let file: String
        /// The beginnings of the statements.
        let starts: [String]

        init(_ reason: String, _ file: String, _ starts: String...) {
            (self.reason, self.file, self.starts) = (reason, file, starts)
        }
    }

    private static let first = "ends with the first row, or with its limit; the index is in that order"
    private static let bind = "once at the begin of a session or connection, over what waits to be sent"
    private static let end = "everything that waits is told, or removed"

    private static let list = "a list for people, of what waits"

    private static let exceptions = [
        Exception(
            "ends after 10,000 rows, or is used for that many at most", "MessageFeed.swift",
            "SELECT count(*) FROM (SELECT 1 FROM message INDEXED BY message_order WHERE account = ? AND shown = 1 LIMIT ?)",
            "SELECT id FROM message INDEXED BY message_order WHERE account = ? AND shown = 1 AND id > ?"),
        Exception(list, "UploadRow.swift", "SELECT id, message_id"),
        Exception(list, "RoomPlanRows.swift", "SELECT id, stage, title"),
        Exception(
            "groups in creation, and the twenty that failed last", "RoomPlanRows.swift",
            "DELETE FROM room_plan WHERE id IN (SELECT id"),
        Exception(list, "ReceivedFileRow.swift", "SELECT count(*) AS count"),
        Exception(first, "ReceivedFileRow.swift", "SELECT min(not_before)"),
        Exception(end, "ReceivedFileRow.swift", "SELECT message FROM attachment WHERE account"),
        Exception(end, "ReceivedFiles.swift", "UPDATE attachment SET state = ?2"),
        Exception(end, "UploadRow.swift", "DELETE FROM upload WHERE account"),
        Exception(first, "MessageReader.swift", "WITH RECURSIVE c(name)"),
        Exception(first, "OutboundQueue.swift", "SELECT 1 FROM queue", "SELECT id, coalesce(message, groupchat)"),
        Exception(first, "OutboundQueue+Messages.swift", "SELECT EXISTS (SELECT 1 FROM message m WHERE m.id"),
        Exception(first, "OutboundQueue+Messages.swift", "SELECT max(id)"),
        Exception(first, "MessageWriter+Archived.swift", "SELECT 1 FROM message INDEXED BY message_unarchived"),
        Exception(first, "NotificationOutbox.swift", "SELECT id, kind"),
        Exception(first, "Pending.swift", "SELECT a.jid, r.name", "SELECT a.jid, t.name", "SELECT a.jid, w.name"),
        Exception(first, "Timers.swift", "SELECT min(at)"),
        Exception(first, "FileDeletionQueue.swift", "SELECT id, name"),
        Exception(first, "PendingFileWork.swift", "SELECT EXISTS"),
        Exception(first, "UploadRow.swift", "SELECT count(*) AS count"),
        Exception(first, "Promises.swift", "SELECT min(until)"),
        Exception(
            "looks once into each conversation, by index", "MessageReader+Archived.swift", "WITH RECURSIVE c(name)"),
        Exception(
            bind, "OutboundQueue.swift", "DELETE FROM queue WHERE account = ?1 AND message IS NULL AND (?2"),
        Exception(
            bind, "OutboundQueue+Messages.swift", "DELETE FROM queue WHERE account = ?1 AND message IN",
            "DELETE FROM queue WHERE account = ? AND message IS NOT NULL",
            "INSERT INTO queue(account, message, stanza, blamed, lasting)", "SELECT m.id, m.conversation, m.anchor",
            "DELETE FROM queue WHERE account = ?1 AND message IS NOT NULL AND NOT lasting"),
        Exception(bind, "UnknownOutcomes.swift", "SELECT id FROM message"),
        Exception(
            "an index of words, by a word", "Search.swift", "SELECT rowid FROM search_text",
            "SELECT rowid FROM temp.search_tail"),
        Exception(
            "the texts of a page of results", "SearchExcerpt.swift", "SELECT rowid, highlight"),
        Exception(bind, "ArchivePreferences.swift", "DELETE FROM archive_preference"),
        Exception(bind, "DeliveryEvidence.swift", "DELETE FROM archive_shown"),
        Exception(
            "who asks until the contacts are known, a few", "Subscribers.swift", "SELECT count(*) FROM asker",
            "DELETE FROM asker WHERE account = ?"),
        Exception(
            "the whole roster, for a whole roster of the server's, or for the user", "RosterRows.swift", "SELECT jid"),
        Exception(
            "contacts and a thousand strangers, when a picture comes or goes, or another stranger", "ProfileRows.swift",
            "SELECT avatar", "SELECT jid, avatar", "DELETE FROM profile"),
        Exception(bind, "PresenceRows.swift", "DELETE FROM presence WHERE account = ?"),
        Exception(
            "contacts that the user has added and that have not answered", "RequestRows.swift",
            "DELETE FROM approval WHERE account = ?1"),
        Exception(bind, "PendingSubscriptions.swift", "SELECT id, jid, type"),
        Exception("the whole list, for a list of the server's, or for the user", "BlockedRows.swift", "SELECT jid"),
        Exception(
            "once in a thousand events: the ten thousand newest, by number", "EventWriter.swift",
            "SELECT number FROM event ORDER BY number DESC"),
        Exception(
            "the thousand newest rows", "MessageWriter+Transmitting.swift",
            "SELECT stanza_id FROM ( SELECT stanza_id, account, archive, position FROM message"),
        Exception(bind, "Entities.swift", "DELETE FROM entity WHERE account"),
        Exception(end, "Requests.swift", "SELECT id FROM request"),
        Exception(end, "Timers.swift", "SELECT id FROM timer"),
        Exception(end, "Promises.swift", "SELECT id FROM promise WHERE account = ? AND result IS NULL"),
        Exception(end, "AccountTable.swift", "DELETE FROM account"),
        Exception(end, "OutboundQueue.swift", "DELETE FROM queue WHERE account = ?"),
        Exception(
            "once in a reading of the archive: conversations that another device reads meanwhile",
            "DisplayedPlaces.swift",
            "SELECT DISTINCT conversation FROM early_displayed"),
        Exception("texts that the user has begun", "Drafts.swift", "SELECT conversation, at FROM draft"),
        Exception("as many rows as the software has migrations", "Schema.swift", "SELECT name FROM migration"),
        Exception("who waits for promises, which handlers make", "Promises.swift", "SELECT w.promise FROM waiter"),
        Exception("at most 5,000 entities, asked for by an application", "Discovery.swift", "SELECT e.jid, e.hash"),
        Exception("at most 201 rows of a partial index", "Entities.swift", "UPDATE entity SET info = NULL"),
        Exception("counts what waits", "SessionStatus.swift", "SELECT jid, resume_id IS NOT NULL"),
        Exception("counts what waits", "NotificationOutbox.swift", "SELECT count(*) FROM notification"),
        Exception(
            "the conversations of an account with notifications, when one is shown or used", "NotificationOutbox.swift",
            "SELECT conversation, handle FROM notification_handle"),
        Exception(
            "as many as are remembered, once a reading of the archive", "NotificationOutbox.swift",
            "SELECT DISTINCT conversation FROM notification"),
        Exception("one row, whether there is any", "RoomRow.swift", "SELECT 1 FROM room LIMIT 1"),
        Exception("one row, whether there is any", "OperationRow.swift", "SELECT 1 FROM operation LIMIT 1"),
        Exception("one row, whether there is any", "DisplayedPlaces.swift", "SELECT 1 FROM early_displayed LIMIT 1"),
        Exception(
            "one row, whether there is any", "ConversationEncryption.swift", "SELECT 1 FROM omemo_conversation LIMIT 1"),
        Exception("one row, whether there is any", "Settings.swift", "SELECT 1 FROM setting LIMIT 1"),
        Exception("one row, whether there is any", "BlockedRows.swift", "SELECT 1 FROM blocked LIMIT 1"),
        Exception("the rooms of an account, for the user or a new session", "RoomRow.swift", "SELECT id, jid, wanted"),
        Exception(
            "the rooms of an account, before a wake ends", "RoomRow.swift",
            "SELECT 1 FROM room WHERE account = ? AND state"),
        Exception(
            "messages that rooms have not shown yet, for a new session or the end of a process", "RoomOutbox.swift",
            "UPDATE room_message SET acked_at = NULL", "SELECT 1 FROM room_plan"),
        Exception("groups in the making: a few", "RoomPlans.swift", "SELECT id, stage, title"),
        Exception("corrections in progress: a few", "CorrectionDrafts.swift", "SELECT message, body"),
        Exception("the list of rooms, when it was read from the server", "BookmarkRows.swift", "SELECT room, xml"),
        Exception(end, "Bookmarks.swift", "DELETE FROM bookmark WHERE account = ? AND change"),
        Exception(
            "at most 1,000 invitations", "Invitation.swift",
            "SELECT room, inviter, reason, password, mediated, at, title FROM invitation WHERE account = ? ORDER",
            "SELECT coalesce(sum(count), 0)", "SELECT room FROM invitation WHERE account"),
        Exception(
            "what has left and was not acknowledged, after a resume", "RoomOutbox.swift",
            "DELETE FROM queue WHERE account = ? AND groupchat"),
        Exception(
            first, "EncryptionQueue.swift", "SELECT 1 FROM omemo_turn", "SELECT 1 FROM omemo_waiting w",
            "DELETE FROM omemo_turn"),
        Exception(first, "EmptyMessages.swift", "SELECT 1 FROM omemo_owed", "SELECT peer FROM omemo_owed"),
        Exception(
            "the conversations whose messages wait for keys, when keys have come", "EncryptionQueue.swift",
            "INSERT OR IGNORE"),
        Exception(
            end, "EncryptionQueue.swift", "SELECT conversation, message, plain",
            "DELETE FROM omemo_waiting WHERE account"),
        Exception(end, "SessionRepair.swift", "UPDATE omemo_owed SET heals = 2", "UPDATE omemo_owed SET heals = 1"),
        Exception(end, "DeviceRemoval.swift", "DELETE FROM omemo_list", "DELETE FROM omemo_aside"),
        Exception(
            "all sessions of an old copy of the database, once", "RatchetSessions.swift",
            "UPDATE omemo_session SET sends = 0 WHERE account = ?"),
        Exception("the same", "BackupRestoreGuard.swift", "DELETE FROM omemo_session"),
        Exception(
            "the settings of conversations, for the user's list", "ListPlacement.swift", "SELECT conversation, name"),
        Exception("the names of all profiles, for the user", "ProfileRows.swift", "SELECT jid, nick"),
        Exception(
            "the encrypted conversations, for the user", "ConversationEncryption.swift",
            "SELECT conversation FROM omemo_conversation"),
        Exception(
            "all keys, for the user", "EncryptionState.swift", "SELECT jid, identity", "SELECT l.jid", "SELECT count(*)"
        ),
        Exception(
            "domains whose strangers have begun sessions in the last hour", "StrangerSessionLimit.swift", "DELETE FROM"),
        Exception(
            "at most 201 rows of a partial index", "RatchetSessions.swift",
            "DELETE FROM omemo_session WHERE id IN (SELECT id FROM omemo_session WHERE account"),
        Exception(
            "at most 20 rows of a partial index", "PeerDevices.swift", "SELECT count(*)",
            "UPDATE omemo_peer SET asked = 0 WHERE asked"),
        Exception(bind, "DeviceLists.swift", "UPDATE omemo_list SET asked = 0 WHERE account"),
        Exception(
            "at most 50,000 rows, if many numbers were given; by index", "SkippedKeys.swift",
            "SELECT count(*) FROM omemo_kept", "SELECT list FROM omemo_kept"),
    ]

    private func databases() throws -> (StepHarness, [Database]) {
        let harness = try StepHarness()
        try harness.database.execute(Search.tail)
        try harness.database.execute(SearchExcerpt.table)
        _ = try harness.directory.share("a", to: .received("romeo@example.net"))
        return (harness, [harness.database, try Database(reading: Mailbox.databasePath(in: harness.directory.path))])
    }

    @Test("the engine has no statements: tables belong to features and to the step")
    func noStatements() throws { #expect(try SQLStatement.all(in: "Sources/KalijClient").map(\.sql) == []) }

    @Test(
        "no statement goes through all rows of a table that grows",
        arguments: ["KalijFeatures", "KalijCore", "KalijCoordination", "KalijStore"])
    func searches(_ target: String) throws {
        let (harness, databases) = try databases()
        let statements = try SQLStatement.all(in: "Sources/" + target)
        #expect(!statements.isEmpty)
        var used: Set<String> = []
        for statement in statements {
            guard let plan = try plan(of: statement, in: databases) else {
                Issue.record("\(statement.file): is no statement as it stands: \(statement.sql)")
                continue
            }
            let walks = statement.walks(plan, except: Self.small)
            guard !walks.isEmpty else { continue }
            let known = Self.exceptions.flatMap { exception in exception.starts.map { (exception.file, $0) } }
                .first { $0 == statement.file && statement.sql.hasPrefix($1) }
            if let known {
                used.insert("\(known)")
            } else {
                Issue.record("\(statement.file): \(statement.sql): \(walks)")
            }
        }
        let files = Set(statements.map(\.file))
        for exception in Self.exceptions where files.contains(exception.file) {
            for start in exception.starts {
                #expect(used.contains("\((exception.file, start))"), "\(exception.file): \(start) walks no longer")
            }
        }
        withExtendedLifetime(harness) {}
    }

    private func plan(of statement: SQLStatement, in databases: [Database]) throws -> [String]? {
        for database in databases {
            guard let prepared = try? database.prepare("EXPLAIN QUERY PLAN " + statement.sql) else { continue }
            return try prepared.all { $0.text("detail") }
        }
        return nil
    }
}
