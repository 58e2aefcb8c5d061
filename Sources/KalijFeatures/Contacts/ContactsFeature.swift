import KalijCore
import KalijHandlers
import KalijStore
import KalijXML

/// Contacts: the roster, requests to see presence, and the presence of the session (RFC 6121 sections 2 to 4).
enum ContactsFeature: Feature, SessionObserver, StanzaInterceptor, PresenceObserver, RequestResponder {
    package static let name = "contacts"

    package static let migrations: [Migration] = [
        Migration(
            "contacts/1", version: 2,
            """
            ALTER TABLE session ADD COLUMN subscribers INTEGER NOT NULL DEFAULT 0; -- whether they are known in this session
            CREATE TABLE subscriber(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                jid TEXT NOT NULL,
                PRIMARY KEY (account, jid)) WITHOUT ROWID;
            -- Questions that wait until they are known.
            CREATE TABLE asker(
                id INTEGER PRIMARY KEY,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                stanza BLOB NOT NULL);
            CREATE INDEX asker_account ON asker(account);
            """),
        Migration(
            "contacts/2",
            """
            -- The roster, as far as the server has told it.
            CREATE TABLE contact(
                id INTEGER PRIMARY KEY,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                jid TEXT NOT NULL,              -- a bare address
                name TEXT,
                groups TEXT NOT NULL,           -- with U+001F between two
                subscription TEXT NOT NULL,     -- 'none', 'to', 'from', 'both'
                asked INTEGER NOT NULL,         -- whether the contact has not answered the account's request yet
                approved INTEGER NOT NULL);     -- whether the server answers the contact's request
            CREATE UNIQUE INDEX contact_jid ON contact(account, jid);
            CREATE TABLE roster(
                account INTEGER PRIMARY KEY REFERENCES account(id) ON DELETE CASCADE,
                version TEXT NOT NULL);         -- the server's name for the state of the rows; '' if there is none
            DROP TABLE subscriber;
            UPDATE session SET subscribers = 0; -- the roster is asked for, also by a session that goes on

            -- Of the present session: the clients of contacts, and of the account.
            CREATE TABLE presence(
                id INTEGER PRIMARY KEY,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                contact TEXT NOT NULL,          -- a bare address
                resource TEXT NOT NULL,
                show TEXT NOT NULL,             -- 'online', 'away', 'chat', 'dnd', 'xa'
                status TEXT,
                priority INTEGER NOT NULL);
            CREATE UNIQUE INDEX presence_client ON presence(account, contact, resource);

            -- Who asks to see the account's presence, until the user has answered.
            CREATE TABLE subscription_request(
                id INTEGER PRIMARY KEY,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                jid TEXT NOT NULL,              -- a bare address
                status TEXT,
                at INTEGER NOT NULL);
            CREATE UNIQUE INDEX subscription_request_jid ON subscription_request(account, jid);
            -- Who may see the account's presence as soon as they ask.
            CREATE TABLE approval(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                jid TEXT NOT NULL,
                PRIMARY KEY (account, jid)) WITHOUT ROWID;
            -- Presence about subscriptions, until the server has it.
            CREATE TABLE subscription_owed(
                id INTEGER PRIMARY KEY,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                jid TEXT NOT NULL,
                side TEXT NOT NULL,             -- whose presence: 'to' is the contact's, 'from' the account's
                type TEXT NOT NULL,             -- of the stanza
                intent TEXT);                   -- the id of the intent that ends when the server has it
            CREATE UNIQUE INDEX subscription_owed_jid ON subscription_owed(account, jid, side);
            """),
        Migration(
            "contacts/3",
            """
            -- The token of an invitation, sent with a request (XEP-0379).
            ALTER TABLE subscription_owed ADD COLUMN preauth TEXT;
            """),
    ]

    package static var handlers: [any Handler<Step>.Type] {
        [RosterResponse.self, SubscriptionTimer.self, AddContactRequest.self, RemoveContactRequest.self]
    }

    static func handlerDeadLettered(_ letter: DeadLetter, in step: Step) throws {
        if letter.name == RosterResponse.name { try Roster(step: step).unavailable() }
    }

    static var events: [any EventContent.Type] { [ContactChanged.self, RequestChanged.self, PresenceChanged.self] }

    static var intents: [any Intent.Type] {
        [AddContact.self, RemoveContact.self, AcceptRequest.self, DenyRequest.self]
    }

    package static func didLoseSession(in step: Step) throws {
        try Roster(step: step).sessionLost()
        try Subscribers(step: step).sessionLost()
        try Presences(step: step).sessionLost()
        try PendingSubscriptions(step: step).sessionLost()
    }

    static func didBindSession(in step: Step) throws {
        try PendingSubscriptions(step: step).sessionBegan()
        try Roster(step: step).sessionBegan()
    }

    static func didResumeSession(in step: Step) throws { try Roster(step: step).sessionResumed() }

    static func didReceivePresence(_ presence: Element, in step: Step) throws {
        switch presence["type"] {
        case nil, "unavailable": try Presences(step: step).received(presence)
        case "subscribe": try SubscriptionRequests(step: step).received(presence)
        case "unsubscribe": try SubscriptionRequests(step: step).withdrawn(presence)
        default: break
        }
    }

    /// Answers each request: the sender may not learn whether the account is online, or only later.
    static func intercept(_ stanzas: [Element], from origin: StanzaOrigin, in step: Step) throws -> Bool {
        guard let request = stanzas.first, request.name == "iq", ["get", "set"].contains(request["type"]) else {
            return false
        }
        try IQResponder(step: step).answer(request)
        return true
    }

    package static func respond(to request: Element, in step: Step) throws -> RequestAnswer? {
        try Roster(step: step).push(request) ? .result(nil) : nil
    }
}
