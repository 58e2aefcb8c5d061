import KalijCore
import KalijAddress
import KalijHandlers
import KalijStore
import KalijXML

/// Archives: catch-up at their ends, and backfill of older history.
enum HistoryFeature: Feature, SessionObserver, ArchiveObserver, StanzaInterceptor, RoomProvider, WorkReporter,
    ServiceProvider
{
    package static let name = "history"

    package static let migrations: [Migration] = [
        Migration(
            "history/1", version: 1,
            """
            -- What was read of each archive (XEP-0313), as far as it hangs together. Between two ranges, and before the first,
            -- is a gap, unless `bottom` says otherwise; behind the last one is the tail.
            CREATE TABLE archive_range(
                id INTEGER PRIMARY KEY,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                archive TEXT NOT NULL,          -- '' is the account's own, else a room's bare address
                first_id TEXT NOT NULL,         -- the archive's id of its first message
                first_position INTEGER NOT NULL,
                first_at INTEGER,               -- the archive's stamp of it
                before_id TEXT NOT NULL,        -- where reading what is before begins: its first message or the next one
                last_id TEXT NOT NULL,
                last_position INTEGER NOT NULL,
                last_at INTEGER,
                again_id TEXT NOT NULL,         -- where reading on begins: a few messages before its last
                bottom INTEGER NOT NULL);       -- 1: the archive has nothing between it and the range before
            CREATE INDEX archive_range_order ON archive_range(account, archive, last_position);

            -- The reading of the end of each archive.
            CREATE TABLE catchup(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                archive TEXT NOT NULL,
                number INTEGER NOT NULL,        -- grows with each round
                phase TEXT NOT NULL,            -- 'before-presence', 'after-presence', 'done'
                trusted INTEGER NOT NULL DEFAULT 0, -- of a room: whether the stanza-ids that it stamps are trusted
                since INTEGER NOT NULL,         -- where to begin if nothing was read yet; 0: the archive had nothing before
                probed INTEGER NOT NULL DEFAULT 0, -- whether it was found out if there is something before
                range INTEGER,                  -- the range that is extended; NULL: a new one
                bottom INTEGER NOT NULL DEFAULT 0, -- of the new one
                query_id TEXT, request TEXT,    -- the open page
                cursor TEXT,                    -- it begins behind this message,
                start INTEGER,                  -- or at this time
                reached TEXT,                   -- the last message of the page before
                placed INTEGER NOT NULL DEFAULT 0, -- the order number of the last message shown
                changed_behind INTEGER,         -- the order number behind which something was found that was not there
                seen INTEGER NOT NULL DEFAULT 0, -- how many messages the round has shown,
                shown INTEGER NOT NULL DEFAULT 0, -- and the page
                first_id TEXT, first_position INTEGER, first_at INTEGER, -- the first one of the round
                last_id TEXT, last_at INTEGER,  -- the last one shown
                previous_id TEXT,               -- the one before it that has another id
                again_id TEXT, again_next TEXT, -- two in the distance in which reading begins again
                again_at INTEGER,               -- the archive's stamp of the second,
                again_seen INTEGER NOT NULL DEFAULT 0, -- and how many messages the round had shown by then
                problem TEXT,
                PRIMARY KEY (account, archive)) WITHOUT ROWID;

            -- Older history that was asked for; it is read backwards.
            CREATE TABLE filling(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                archive TEXT NOT NULL,
                gaps INTEGER NOT NULL,          -- whether gaps between ranges are to be filled
                wanted INTEGER NOT NULL,        -- how many messages are wanted from before the first range
                stored INTEGER NOT NULL DEFAULT 0, -- how many it has brought
                range INTEGER,                  -- the range whose begin is moved back; NULL: a new one
                query_id TEXT, request TEXT,    -- the open page
                cursor TEXT,                    -- it ends before this message,
                stop INTEGER,                   -- or at this time
                base INTEGER NOT NULL DEFAULT 0, -- the order number of its first message
                shown INTEGER NOT NULL DEFAULT 0, -- how many messages it has shown
                placed INTEGER NOT NULL DEFAULT 0, -- and how many of them were in no range
                first_id TEXT, first_at INTEGER, second_id TEXT, last_id TEXT, last_at INTEGER,
                met INTEGER,                    -- the older range that it has met
                outcome TEXT,                   -- NULL: it goes on; '': done; else why it ended
                PRIMARY KEY (account, archive)) WITHOUT ROWID;
            """),
        Migration(
            "history/2", version: 2,
            """
            CREATE TABLE archive_preference(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                conversation TEXT NOT NULL,
                keeps INTEGER NOT NULL,
                PRIMARY KEY (account, conversation)) WITHOUT ROWID;
            -- Stored messages that the archive has shown again in this session. Noted while messages of ours wait for the archive.
            CREATE TABLE archive_shown(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                own INTEGER NOT NULL,           -- whether it was accepted here
                message INTEGER NOT NULL,
                PRIMARY KEY (account, own, message)) WITHOUT ROWID;

            CREATE TABLE server_time(
                account INTEGER PRIMARY KEY REFERENCES account(id) ON DELETE CASCADE,
                ahead INTEGER,                  -- milliseconds by which the server's time is at least ahead of the steady time
                base INTEGER NOT NULL,          -- of the steady time when that was found out; before, when the account came
                since INTEGER);                 -- when the account came here, in the server's time
            """),
        Migration(
            "history/3",
            """
            UPDATE session SET available = 1
                WHERE account IN (SELECT account FROM catchup WHERE archive = '' AND phase <> 'before-presence');
            """),
        Migration(
            "history/4",
            """
            ALTER TABLE archive_range ADD COLUMN again_position INTEGER; -- the order number of `again_id`, if known
            ALTER TABLE catchup ADD COLUMN again_position INTEGER;
            -- Up to this stamp nothing comes between the shown messages any more; NULL: unknown, or the round is past it.
            ALTER TABLE catchup ADD COLUMN quiet_until INTEGER;
            ALTER TABLE catchup ADD COLUMN read_at INTEGER; -- when the last reading came to the end, in the steady time
            """),
        Migration("history/5", "ALTER TABLE catchup ADD COLUMN result_bytes INTEGER; -- the mean of a result"),
        Migration(
            "history/6",
            """
            -- Older history of single conversations, from the account's own archive; it is read backwards.
            CREATE TABLE conversation_history(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                conversation TEXT NOT NULL,     -- a bare address, or an occupant's full address
                wanted INTEGER NOT NULL,        -- how many messages are still requested
                stored INTEGER NOT NULL DEFAULT 0, -- how many the request has stored
                pages INTEGER NOT NULL DEFAULT 0, -- how many pages the request has read
                before_id TEXT,                 -- the next page ends before this message; NULL: before the first range
                first_at INTEGER,               -- the archive's stamp of the first message read
                position INTEGER NOT NULL,      -- the order number of the first message read, at least
                query_id TEXT,                  -- the open page
                cursor TEXT,                    -- it ends before this message; NULL: at a time, or with the archive
                page_first TEXT,                -- the first message of the page before, if that had nothing new
                shown INTEGER NOT NULL DEFAULT 0, -- how many messages the open page has returned
                placed INTEGER NOT NULL DEFAULT 0, -- and how many of them got a place
                first_id TEXT, page_at INTEGER, second_id TEXT, -- the first ones of the open page
                complete INTEGER NOT NULL DEFAULT 0, -- whether the archive has no older messages
                outcome TEXT,                   -- NULL: it goes on; '': done; else why it ended
                PRIMARY KEY (account, conversation)) WITHOUT ROWID;
            CREATE UNIQUE INDEX conversation_history_query ON conversation_history(query_id) WHERE query_id IS NOT NULL;
            CREATE INDEX conversation_history_open ON conversation_history(account, outcome) WHERE outcome IS NULL;
            """),
    ]

    /// The handlers of backfill and server time share the prefix of catch-up.
    static let handlerPrefix = "catch-up"

    package static var handlers: [any Handler<Step>.Type] {
        [
            ArchivePageResponse.self, BackfillPageResponse.self, ConversationPageResponse.self,
            ArchiveStartResponse.self,
            RoomArchiveInfoResponse.self,
            ArchivePreferencesResponse.self,
            ServerTimeResponse.self,
        ]
    }

    /// A handler was lost: the work that waits for it continues without a response.
    package static func handlerDeadLettered(_ letter: DeadLetter, in step: Step) throws {
        let problem = "what should have gone on with it was lost: \(letter.reason)"
        let archive = archive(of: letter)
        switch letter.name {
        case AccountInfoResponse.name: try step.catchUp.didDiscover(.none(problem))
        case ArchivePageResponse.name: try ArchiveSync(step: step, archive: archive).unanswered(problem)
        case ArchivePreferencesResponse.name: try step.catchUp.didReceivePreferences()
        case BackfillPageResponse.name: try Backfill(step: step, archive: archive).unanswered(problem)
        case ConversationPageResponse.name: try conversation(of: letter, in: step)?.unanswered(problem)
        case RoomArchiveInfoResponse.name: RoomArchive(step: step, room: archive).emit(problem)
        default: break
        }
    }

    /// The archive of a handler: each handler binds the room, or nothing for the account's own archive.
    private static func archive(of letter: DeadLetter) -> Archive {
        guard case .text(let room)? = (try? StoredHandler(bytes: letter.handler))?.values["room"] else { return .own }
        return Archive(key: room)
    }

    private static func conversation(of letter: DeadLetter, in step: Step) throws -> ConversationHistory? {
        guard case .text(let name)? = (try? StoredHandler(bytes: letter.handler))?.values["conversation"] else {
            return nil
        }
        return ConversationHistory(step: step, conversation: name)
    }

    package static func didLoseSession(in step: Step) throws { try step.catchUp.forgetQuestions() }

    package static func didBindSession(in step: Step) throws { try ServerTime(step: step).requestTime() }

    package static func didResumeSession(in step: Step) throws {
        try step.catchUp.resume()
        try ServerTime(step: step).refresh()
    }

    static func didDiscover(_ answer: ServerAnswer, of entity: ServerEntity, in step: Step) throws {
        if entity == .account { try step.catchUp.didDiscover(answer) }
    }

    static func defersPresence(in step: Step) throws -> Bool { try step.catchUp.holdsPresence }

    static func isReceiving(in database: Database) throws -> Bool { try ArchiveStatus.isReading(in: database) }

    // No user waits for the responses, and the next process continues the reading.
    static var repeatableRequests: [String] {
        [ArchivePageResponse.name, ArchiveStartResponse.name, RoomArchiveInfoResponse.name]
    }

    static func accountService(for host: any AccountServiceHost) -> (any FeatureService)? { HistoryService(host) }

    /// Without a round, whether the server has an archive was not discovered yet.
    static func mayShowOutcomes(in step: Step) throws -> Bool {
        try SessionRow.load(step.account.id, from: step.database).archive
            || ArchiveSyncState.load(.own, of: step.account.id, from: step.database) == nil
    }

    static func lastArchived(in step: Step) throws -> (id: String, position: Int64)? {
        try ArchiveRanges(database: step.database, account: step.account.id, archive: .own).end()
    }

    // MARK: Results

    static func intercept(_ stanzas: [Element], from origin: StanzaOrigin, in step: Step) throws -> Bool {
        guard let first = stanzas.first, first.name == "message", ArchiveResult.element(in: first) != nil else {
            return false
        }
        let results = ArchiveResults(step: step)
        switch origin {
        case .stream: try results.handle(stanzas)
        case .quarantine(let position): try results.handle(again: first, at: position)
        }
        return true
    }

    static func isAwaiting(_ stanza: Element, for account: Account, in database: Database) throws -> Bool {
        try ArchiveResults.isAwaited(stanza, for: account, in: database)
    }

    static func openQueries(of account: Account, in database: Database) throws -> [String] {
        try database.statement(
            """
            SELECT query_id FROM catchup WHERE account = ?1 AND query_id IS NOT NULL
            UNION SELECT query_id FROM filling WHERE account = ?1 AND query_id IS NOT NULL
            UNION SELECT query_id FROM conversation_history INDEXED BY conversation_history_open
                WHERE account = ?1 AND outcome IS NULL AND query_id IS NOT NULL
            """
        ).all([.integer(account.id)]) { $0.text() }
    }

    static func trustsStanzaIDs(of room: JID, in step: Step) throws -> Bool {
        try RoomArchive.isTrusted(room.description, in: step)
    }

    static var events: [any EventContent.Type] { [CaughtUp.self, RoomRead.self, HistoryFilled.self] }
}
