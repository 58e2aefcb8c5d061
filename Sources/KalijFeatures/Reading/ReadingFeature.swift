import KalijAddress
import KalijHandlers
import KalijCore
import KalijStore
import KalijXML

/// The messages that the user has read, here and on other devices (XEP-0333, XEP-0490), and those that contacts have read (XEP-0333).
enum ReadingFeature: Feature, SessionObserver, ArchiveObserver, MessageProcessor, StoredMessageObserver,
    OutgoingMessageDecorator, OutgoingMessageInterceptor, TransactionObserver
{
    static let name = "reading"
    static let announced = [Markers.namespace, DisplayedNode.name + "+notify"]
    static let migrations = [
        Migration(
            "reading/1",
            """
            -- How far the user has read each conversation.
            CREATE TABLE displayed(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                conversation TEXT NOT NULL,
                message INTEGER NOT NULL,       -- the row of the newest displayed message
                position INTEGER NOT NULL,      -- its order number, as it was; it counts if the row is gone
                is_own INTEGER NOT NULL DEFAULT 0, -- whether the user has read so far in this directory
                unpublished INTEGER NOT NULL DEFAULT 0, -- whether other devices are to be told (XEP-0490)
                marked INTEGER,                 -- the row of the last message that got a marker from here
                owed INTEGER,                   -- the row of a message whose marker waits until the contacts are known
                PRIMARY KEY (account, conversation)) WITHOUT ROWID;
            CREATE INDEX displayed_unpublished ON displayed(account, unpublished) WHERE unpublished = 1;
            CREATE INDEX displayed_owed ON displayed(account, owed) WHERE owed IS NOT NULL;
            -- The account's own archive: messages up to this order number are from before the account was here, and count as read.
            ALTER TABLE session ADD COLUMN history INTEGER NOT NULL DEFAULT 0;
            -- Whatever is here already counts as read.
            INSERT INTO displayed(account, conversation, message, position)
                SELECT account, conversation, id, max(position) FROM message WHERE shown = 1 AND direction = 'in'
                GROUP BY account, conversation;
            -- Messages displayed on other devices that are not here yet.
            CREATE TABLE early_displayed(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                conversation TEXT NOT NULL,
                name TEXT NOT NULL,             -- an archive's id of the message, or the stanza's id
                archive TEXT,                   -- whose id; '' is the account's own archive; NULL: the stanza's id
                PRIMARY KEY (account, conversation)) WITHOUT ROWID;
            -- How far contacts have read.
            CREATE TABLE displayed_by(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                contact TEXT NOT NULL,          -- a bare address
                message INTEGER NOT NULL,       -- the row of the last displayed message
                position INTEGER NOT NULL,      -- its order number, as it was; it counts if the row is gone
                PRIMARY KEY (account, contact)) WITHOUT ROWID;
            -- Markers of contacts for messages that are not here, or not yet.
            CREATE TABLE early_marker(
                id INTEGER PRIMARY KEY,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                contact TEXT NOT NULL,          -- a bare address
                message TEXT NOT NULL);         -- the id of the message
            CREATE UNIQUE INDEX early_marker_message ON early_marker(account, contact, message);
            -- Texts that the user has begun.
            CREATE TABLE draft(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                conversation TEXT NOT NULL,
                body TEXT NOT NULL,
                at INTEGER NOT NULL,            -- milliseconds since 1970
                PRIMARY KEY (account, conversation)) WITHOUT ROWID;
            """),
        Migration(
            "reading/2",
            """
            -- Several names of a conversation wait.
            ALTER TABLE early_displayed RENAME TO last_early_displayed;
            CREATE TABLE early_displayed(
                id INTEGER PRIMARY KEY,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                conversation TEXT NOT NULL,
                name TEXT NOT NULL,             -- an archive's id of the message, or the stanza's id
                archive TEXT);                  -- whose id; '' is the account's own archive; NULL: the stanza's id
            CREATE INDEX early_displayed_conversation ON early_displayed(account, conversation);
            INSERT INTO early_displayed(account, conversation, name, archive)
                SELECT account, conversation, name, archive FROM last_early_displayed;
            DROP TABLE last_early_displayed;
            """),
        Migration(
            "reading/3",
            """
            -- The row of the message that the text replies to.
            ALTER TABLE draft ADD COLUMN answered INTEGER;
            """),
        Migration(
            "reading/4",
            """
            -- How far the members of a group have read. How far all have is in displayed_by, under the address of the group.
            CREATE TABLE displayed_by_member(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                conversation TEXT NOT NULL,     -- the bare address of the group
                member TEXT NOT NULL,           -- a bare address
                message INTEGER NOT NULL,       -- the row of the last displayed message
                position INTEGER NOT NULL,      -- its order number, as it was; it counts if the row is gone
                PRIMARY KEY (account, conversation, member)) WITHOUT ROWID;
            -- Markers of members for messages that are not here yet.
            CREATE TABLE early_group_marker(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                conversation TEXT NOT NULL,     -- the bare address of the group
                member TEXT NOT NULL,           -- a bare address
                message TEXT NOT NULL,          -- the id in the group's archive
                PRIMARY KEY (account, conversation, member)) WITHOUT ROWID;
            CREATE INDEX early_group_marker_message ON early_group_marker(account, conversation, message);
            """),
        Migration(
            "reading/5",
            """
            -- Corrections that the user has begun.
            CREATE TABLE correction_draft(
                message INTEGER PRIMARY KEY REFERENCES message(id) ON DELETE CASCADE,
                body TEXT NOT NULL);            -- the text so far
            """),
    ]
    static var handlers: [any Handler<Step>.Type] {
        [DisplayedNodeResponse.self, DisplayedNodeConfigured.self, DisplayedPublishResponse.self]
    }
    static var events: [any EventContent.Type] { [UnreadChanged.self, DraftChanged.self, GroupRead.self] }
    static var intents: [any Intent.Type] { [MarkRead.self, SetDraft.self, SetCorrectionDraft.self] }

    // MARK: The session

    static func didBindSession(in step: Step) throws { try Markers(step: step).sendPending(asking: true) }
    static func didSendInitialPresence(in step: Step) throws { try DisplayedNode(step: step).requestItems() }
    static func didResumeSession(in step: Step) throws {
        // While the client was inactive, a server may have dropped notifications of the node (measured: places of other conversations).
        guard try PushRow.load(step.account.id, from: step.database)?.isEnabled ?? false else {
            return try DisplayedNode(step: step).publish()
        }
        try DisplayedNode(step: step).requestItems()
    }
    static func didLoadContacts(in step: Step) throws { try Markers(step: step).sendPending(asking: false) }

    static func didSyncArchive(in step: Step) throws {
        try DisplayedPlaces(step: step).archiveRead()
        try Markers(step: step).sendPending(asking: true)
        try DisplayedNode(step: step).archiveRead()
    }

    static func didSyncRoomArchive(_ room: JID, problem: String?, in step: Step) throws {
        try Markers(step: step).sendPending(asking: true)
    }

    // MARK: Messages

    static func decorate(_ message: Element, in step: Step) {
        message.add(Element("markable", xmlns: Markers.namespace))
    }

    /// Adds to a text to a group that markers are wanted; keeps nothing.
    static func intercepts(_ stanza: AcceptedStanza, in step: Step) throws -> Bool {
        guard stanza.element["type"] == "groupchat", stanza.element.child("body", "jabber:client") != nil,
            try GroupMarkers(stanza.recipient.description, in: step) != nil
        else { return false }
        decorate(stanza.element, in: step)
        return false
    }

    static func process(_ message: inout IncomingMessage, in step: Step) throws {
        if message.source == .live,
            let items = OwnNode.event(of: DisplayedNode.name, in: message.element, account: step.account.jid)
        {
            message.isKept = false
            return try DisplayedNode(step: step).received(items)
        }
        message.isMarkable = message.element.child("markable", Markers.namespace) != nil
        guard let id = message.element.child("displayed", Markers.namespace)?["id"] else { return }
        try marker(for: id, &message, in: step)
    }

    /// Handles a marker. The archive of a room does not authenticate what is sent to the account.
    private static func marker(for id: String, _ message: inout IncomingMessage, in step: Step) throws {
        guard message.type != "groupchat" else { return try groupMarker(for: id, &message, in: step) }
        guard message.source != .archive || message.archive == Archive.own.key else {
            return
        }
        let markers = Markers(step: step)
        if message.direction == .incoming {
            message.dropUnlessNeeded()
            return try markers.received(for: id, from: message.conversation)
        }
        let isOurs = try markers.isOurs(message)
        if isOurs { message.isKept = true } else { message.dropUnlessNeeded() }
        guard !isOurs else { return }
        try DisplayedPlaces(step: step).displayed(.stanza(id), in: message.conversation)
    }

    /// Handles a marker in a room, in a group; in other rooms a nickname does not identify the reader.
    private static func groupMarker(for id: String, _ message: inout IncomingMessage, in step: Step) throws {
        guard message.isKept, let markers = try GroupMarkers(message.conversation, in: step) else { return }
        let isOurs = try message.direction == .outgoing && Markers(step: step).isOurs(message)
        if isOurs { message.isKept = true } else { message.dropUnlessNeeded() }
        guard !isOurs else { return }
        try markers.received(for: id, message)
    }

    static func didStore(_ message: Message, from incoming: IncomingMessage, in step: Step) throws {
        try DisplayedPlaces(step: step).stored(message.conversation)
        if message.type == "groupchat" { return try GroupMarkers.stored(message, in: step) }
        if message.direction == .outgoing { try Markers(step: step).stored(message) }
    }

    static func didShow(_ message: Message, from incoming: IncomingMessage, in step: Step) throws {
        try DisplayedPlaces(step: step).shown(message, from: incoming)
    }

    static func didAcceptDraft(for recipient: JID, in step: Step) throws { try step.setDraft("", for: recipient) }

    static func didReorder(_ row: Int64, in step: Step) throws {
        let messages = MessageReader(database: step.database, account: step.account.id)
        if let (_, conversation) = try messages.names(of: row) { step.unreadMayDiffer(in: conversation) }
    }

    /// Counted once in a transaction: counting takes longer with more messages, and many messages arrive in one transaction.
    static func didInvalidateUnread(in conversations: [String], step: Step) throws {
        try DisplayedPlaces(step: step).emitUnread(in: conversations)
    }
}
