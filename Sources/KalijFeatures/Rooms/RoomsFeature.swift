import KalijAddress
import KalijHandlers
import KalijCore
import KalijStore
import KalijXML

/// Rooms (XEP-0045): stays in them until they are left, across processes, resumes and binds; and receives and sends their messages
/// exactly once.
enum RoomsFeature: Feature, SessionObserver, AccountObserver, ArchiveObserver, MessageProcessor, StoredMessageObserver,
    PresenceObserver, OutgoingMessageInterceptor, RoomProvider, WorkReporter
{
    static let name = "rooms"
    static let announced = [
        RoomCoordinator.namespace, Invitations.direct, Bookmark.native + "+notify", Bookmark.former + "+notify",
    ]
    static let migrations = [
        Migration(
            "rooms/1",
            """
            CREATE TABLE room(
                id INTEGER PRIMARY KEY,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                jid TEXT NOT NULL,              -- a bare address
                wanted INTEGER NOT NULL DEFAULT 0, -- whether the user wants to be in the room
                nick TEXT NOT NULL,             -- the nickname that the user wants
                password TEXT,
                shows_address INTEGER NOT NULL DEFAULT 0, -- whether the user agrees that everybody sees the account's address
                -- Of the present session:
                state TEXT NOT NULL DEFAULT 'left', -- 'left', 'asking', 'joining', 'entering', 'joined', 'doubtful', 'waiting',
                                                -- 'refused', 'absent', 'gone'
                failures INTEGER NOT NULL DEFAULT 0, -- failed attempts to get in, in a row
                renamings INTEGER NOT NULL DEFAULT 0, -- other nicknames tried
                held TEXT,                      -- the nickname in the room
                joins INTEGER NOT NULL DEFAULT 0, -- how often presence was sent to the room
                heard_at INTEGER NOT NULL DEFAULT 0, -- when the room was heard last, in the steady time; to the minute
                reason TEXT,                    -- why the account is not in the room
                successor TEXT,                 -- the address that a destroyed room has named
                overlaps INTEGER NOT NULL DEFAULT 0, -- whether the room has told an old message since the join
                occupant_id TEXT,               -- of the account's own occupant (XEP-0421)
                creating INTEGER NOT NULL DEFAULT 0, -- whether a plan makes the room
                -- What the room says of itself:
                name TEXT,
                info INTEGER NOT NULL DEFAULT 0, -- bits: members only, not anonymous, hidden, persistent, archive, occupant ids,
                                                -- moderation, moderation before version 0.3
                subject TEXT,
                looking INTEGER NOT NULL DEFAULT 0, -- whether a timer will look for messages that have not come back
                since INTEGER,                  -- when the account was in the room first, in the server's time
                intent TEXT);                   -- the id of the intent that ends when the account has entered, or cannot
            CREATE UNIQUE INDEX room_jid ON room(account, jid);

            CREATE TABLE occupant(
                room INTEGER NOT NULL REFERENCES room(id) ON DELETE CASCADE,
                nick TEXT NOT NULL,
                joined INTEGER NOT NULL,        -- the account's join that the occupant was told in
                jid TEXT,                       -- the bare address, where the room shows it
                occupant_id TEXT,
                affiliation TEXT NOT NULL,
                role TEXT NOT NULL,
                stay INTEGER NOT NULL,          -- tells the stays of whoever had the nickname from one another
                PRIMARY KEY (room, nick)) WITHOUT ROWID;

            -- Messages to rooms that the rooms have not shown yet.
            CREATE TABLE room_message(
                message INTEGER PRIMARY KEY REFERENCES message(id) ON DELETE CASCADE,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                room TEXT NOT NULL,             -- a bare address
                stanza BLOB NOT NULL,
                state INTEGER NOT NULL DEFAULT 0, -- 0: waits; 1: in the queue, or on its way; 2: with the server; 3: in doubt
                nick TEXT,                      -- the nickname under which the message has left
                acked_at INTEGER,               -- when the server had the message, in the steady time
                refusals INTEGER NOT NULL DEFAULT 0); -- how often the room did not know the sender
            CREATE INDEX room_message_room ON room_message(account, room, message);

            -- The people of groups, present or not.
            CREATE TABLE room_member(
                room INTEGER NOT NULL REFERENCES room(id) ON DELETE CASCADE,
                jid TEXT NOT NULL,              -- a bare address
                affiliation TEXT NOT NULL,      -- 'owner', 'admin', 'member'
                PRIMARY KEY (room, jid)) WITHOUT ROWID;

            -- Invitations that wait for the user.
            CREATE TABLE invitation(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                room TEXT NOT NULL,             -- a bare address
                inviter TEXT,                   -- a bare address
                reason TEXT,
                password TEXT,
                mediated INTEGER NOT NULL,      -- whether the room has passed the invitation on
                at INTEGER NOT NULL,            -- when it was sent, in milliseconds since 1970
                PRIMARY KEY (account, room)) WITHOUT ROWID;

            -- The rooms that all devices want to be in: the list as it was seen last, with the changes of this device.
            CREATE TABLE bookmark(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                room TEXT NOT NULL,             -- a bare address
                xml TEXT,                       -- the element in the list; NULL: not there
                autojoin INTEGER NOT NULL,      -- whether the list says that devices enter
                change INTEGER NOT NULL,        -- of this device, not in the list yet: 0: none; 1: set; 2: removed
                written_at INTEGER,             -- when this device has written the room last, in the steady time
                PRIMARY KEY (account, room)) WITHOUT ROWID;
            -- Where the server keeps the list, in the present session.
            CREATE TABLE bookmarks(
                account INTEGER PRIMARY KEY REFERENCES account(id) ON DELETE CASCADE,
                kind TEXT NOT NULL,             -- 'native', 'item', 'storage'
                again INTEGER NOT NULL DEFAULT 0); -- whether the list is to be read again

            -- Groups in the making.
            CREATE TABLE room_plan(
                id INTEGER PRIMARY KEY,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                stage TEXT NOT NULL,            -- 'finding', 'looking', 'entering', 'asking', 'configuring', 'checking', 'adding',
                                                -- 'destroying'
                title TEXT NOT NULL,
                nick TEXT,
                people TEXT NOT NULL,           -- the bare addresses of the invited, one a line
                added INTEGER NOT NULL DEFAULT 0, -- how many of them are members by now
                room TEXT,                      -- the bare address, as soon as there is one
                problem TEXT,                   -- why the room is destroyed
                intent TEXT NOT NULL,
                asked INTEGER NOT NULL DEFAULT 0); -- how often a question was asked: the last counts
            CREATE INDEX room_plan_account ON room_plan(account);
            """),
        // The former nickname, while the room processes the change to another.
        Migration("rooms/2", "ALTER TABLE room ADD COLUMN former TEXT"),
        // The join (`joins`) since which the lists of members have come.
        Migration(
            "rooms/3", "ALTER TABLE room ADD COLUMN listed INTEGER NOT NULL DEFAULT 0; UPDATE room SET listed = joins"),
        // Who has sent how many invitations: of whom one is to make place is known without reading them all.
        Migration(
            "rooms/4",
            """
            ALTER TABLE invitation ADD COLUMN title TEXT; -- the name that the room has given itself
            ALTER TABLE invitation ADD COLUMN domain TEXT NOT NULL DEFAULT ''; -- of the server that has sent it
            UPDATE invitation SET domain = CASE WHEN mediated OR inviter IS NULL THEN room ELSE inviter END;
            UPDATE invitation SET domain = substr(domain, instr(domain, '@') + 1);
            -- The number of the invitations that each server has sent.
            CREATE TABLE invitation_sender(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                domain TEXT NOT NULL,
                count INTEGER NOT NULL,
                PRIMARY KEY (account, domain)) WITHOUT ROWID;
            INSERT INTO invitation_sender SELECT account, domain, count(*) FROM invitation GROUP BY account, domain;
            """),
        // The picture that a new group is to have.
        Migration(
            "rooms/5",
            """
            ALTER TABLE room_plan ADD COLUMN picture TEXT; -- in base64
            ALTER TABLE room_plan ADD COLUMN picture_problem TEXT; -- why the room has not taken it
            """),
        // Messages that mention the account by an element (XEP-0372), whatever their words are.
        Migration(
            "rooms/6",
            "CREATE TABLE room_mention(message INTEGER PRIMARY KEY REFERENCES message(id) ON DELETE CASCADE)"),
        // The id of the intent that has created the room.
        Migration(
            "rooms/7",
            """
            ALTER TABLE room ADD COLUMN creation TEXT;
            CREATE UNIQUE INDEX room_creation ON room(account, creation) WHERE creation IS NOT NULL;
            """),
    ]
    static var handlers: [any Handler<Step>.Type] {
        [
            RoomInfoResponse.self, RoomRejoinTimer.self, SelfPingResponse.self, RoomPingResponse.self,
            RoomSilenceTimer.self, RoomDoubtTimer.self,
            ReflectionTimeout.self, RoomAdminRequest.self, RoomFormRequest.self, SetSubjectRequest.self,
            MemberListResponse.self, GrantMembershipRequest.self,
            MediatedInviteRequest.self, InvitationRequest.self, GroupCreationResponse.self, BookmarksResponse.self,
            BookmarkPublishResponse.self, BookmarkNodeConfigured.self,
            BookmarksTimer.self,
        ]
    }
    static var events: [any EventContent.Type] {
        [
            RoomChanged.self, RoomInfoChanged.self, OccupantChanged.self, MemberChanged.self, InvitationChanged.self,
            InvitationDescribed.self, GroupCreationChanged.self,
        ]
    }
    static var intents: [any Intent.Type] {
        [
            CreateRoom.self, RetryGroup.self, ForgetGroup.self, JoinRoom.self, LeaveRoom.self, Invite.self,
            DeclineInvitation.self, DescribeInvitation.self, SetRole.self, ConfigureRoom.self, SetSubject.self,
            SetRoomPicture.self,
            DestroyRoom.self, Moderate.self,
        ]
    }

    // MARK: The session

    static func didLoseSession(in step: Step) throws { try RoomCoordinator(step: step).sessionLost() }
    static func didDiscover(_ answer: ServerAnswer, of entity: ServerEntity, in step: Step) throws {
        if entity == .account, case .known(let info) = answer { try Bookmarks(step: step).didDiscover(info) }
    }
    static func didSendInitialPresence(in step: Step) throws {
        try RoomCoordinator(step: step).sessionBegan()
        try Bookmarks(step: step).requestList()
    }
    static func didResumeSession(in step: Step) throws {
        try RoomCoordinator(step: step).sessionResumed()
        try Bookmarks(step: step).sessionResumed()
    }
    static func didReceivePresence(_ presence: Element, in step: Step) throws {
        try RoomCoordinator(step: step).received(presence)
    }
    static func didLogOut(in step: Step) throws { try RoomCoordinator(step: step).accountLoggedOut() }

    /// The occupants of a room with the account see that the account is online.
    static func sharesPresence(with jid: JID, in step: Step) throws -> Bool {
        guard let room = try RoomCoordinator(step: step).rows.room(jid) else { return false }
        return room.stay.state.isIn || room.stay.state == .joining
    }

    // MARK: Messages

    static func isRoom(_ jid: JID, in step: Step) throws -> Bool {
        let rows = RoomCoordinator(step: step).rows
        return try jid.isBare ? rows.isRoom(jid) : rows.isOccupant(jid)
    }

    static func process(_ message: inout IncomingMessage, in step: Step) throws {
        if try Bookmarks(step: step).received(message) {
            message.isKept = false
            return
        }
        if Invitations.isMeant(by: message) {
            (message.isShown, message.isKept, message.isNeeded) = (false, true, true)
            return
        }
        guard message.type == "groupchat" else { return try RoomMessageClassifier.arrivedPrivately(&message, in: step) }
        guard let room = message.sender.isPrepared ? message.sender.bare : nil else { return }
        if var row = try RoomCoordinator(step: step).rows.room(room) {
            try RoomMessageClassifier(step: step, room: row).arrived(&message, &row)
        } else if message.source != .archive, try !RoomArchive.isTrusted(room.description, in: step) {
            // A room sends no message to an account that is no occupant.
            message.isKept = false
        }
    }

    static func didStore(_ message: Message, from incoming: IncomingMessage, in step: Step) throws {
        if !message.isShown, Invitations.isMeant(by: incoming) { try Invitations(step: step).stored(incoming) }
    }

    static func intercepts(_ stanza: AcceptedStanza, in step: Step) throws -> Bool {
        let recipient = stanza.recipient
        let rows = RoomCoordinator(step: step).rows
        guard let room = try rows.room(recipient) else {
            guard try rows.isOccupant(recipient) else { return false }
            // Only another client of the account was in that room (XEP-0280 section 6.1).
            throw IntentFailure("you are not in the room \(recipient.bare): `kalij room join`")
        }
        if let nick = recipient.resource {
            try RoomMessageClassifier(step: step, room: room).checkHolder(of: nick, recipient.description)
            return false
        }
        // The features that encrypt were called before: they have kept the text without who is mentioned.
        try mention(stanza.element, in: room, step)
        try RoomOutbox(step: step, room: room).accept(stanza.element, stanza.message)
        return true
    }

    private static func mention(_ message: Element, in room: RoomRow, _ step: Step) throws {
        guard let text = message.child("body", "jabber:client")?.text, text.utf8.contains(UInt8(ascii: "@")) else {
            return
        }
        let people = try Occupants.all(of: room, in: step.database).map { ($0.nick, $0.jid) }
        for element in MentionReferences.elements(for: text, people, in: room.jid) { message.add(element) }
    }

    static func didInsert(_ message: inout Message, from incoming: IncomingMessage, in step: Step) throws {
        guard message.type == "groupchat", message.direction == .incoming,
            MentionReferences.exist(in: incoming.element),
            let room = try RoomCoordinator(step: step).rows.room(incoming.sender),
            room.mentions(step.account.jid, by: incoming.element)
        else { return }
        try step.database.run("INSERT OR IGNORE INTO room_mention(message) VALUES (?)", [.integer(message.id)])
    }

    static func handlesError(_ message: Element, in step: Step) throws -> Bool {
        try RoomMessageClassifier.handleError(message, in: step)
    }

    static func didChangeState(_ message: Message, in step: Step) throws {
        if message.type == "groupchat", message.direction == .outgoing {
            try RoomOutbox.stateChanged(message, in: step)
        }
    }

    static func didAcknowledge(_ message: Int64, in step: Step) throws {
        try RoomOutbox.acknowledged(message, in: step)
    }

    static func didSyncRoomArchive(_ room: JID, problem: String?, in step: Step) throws {
        guard let row = try RoomCoordinator(step: step).rows.room(room) else { return }
        try RoomOutbox(step: step, room: row).wasRead(problem: problem)
    }

    static func hasOutstandingWork(for account: Account, in database: Database) throws -> Bool {
        try RoomOutbox.hasOutstandingWork(by: account, in: database)
    }

    /// A room that was not entered cannot cause notifications.
    static func awaitsPushPrerequisite(for account: Account, in database: Database) throws -> Bool {
        try RoomRows(database: database, account: account.id).isEntering()
    }
}
