import KalijHandlers
import KalijStore

/// Waiting handlers: for answers, times, promises.
package enum WaitingFeature: Feature, TransactionObserver {
    package static let name = "waiting"
    package static let handlerPrefix = "promise"

    package static let migrations = [
        Migration(
            "waiting/1", version: 1,
            """
            -- Handlers that wait for the answer to a request.
            CREATE TABLE request(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                id TEXT NOT NULL,               -- the stanza's id, random
                responder TEXT NOT NULL,        -- who was asked; '' is the account itself
                asked_at INTEGER NOT NULL,
                deadline INTEGER NOT NULL,
                sent INTEGER NOT NULL DEFAULT 0, -- when its bytes last left, so that an answer may be on the way; 0: not yet
                name TEXT NOT NULL,             -- the handler's
                handler BLOB NOT NULL,
                crashes INTEGER NOT NULL DEFAULT 0, -- processes that ended while they called it
                PRIMARY KEY (account, id)) WITHOUT ROWID;
            CREATE INDEX request_deadline ON request(account, deadline);
            CREATE INDEX request_name ON request(account, name);

            -- Handlers that are called at a time.
            CREATE TABLE timer(
                id INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice: who holds an old one must not cancel another
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                at INTEGER NOT NULL,
                name TEXT NOT NULL,
                handler BLOB NOT NULL,
                crashes INTEGER NOT NULL DEFAULT 0);
            CREATE INDEX timer_order ON timer(account, at);

            CREATE TABLE promise(
                id INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice: who holds an old one must not get another's value
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                until INTEGER NOT NULL,         -- when it is rejected, or, once it is settled, forgotten
                result BLOB);                   -- NULL: not settled
            CREATE INDEX promise_pending ON promise(account, until) WHERE result IS NULL;
            CREATE INDEX promise_settled ON promise(account, until) WHERE result IS NOT NULL;

            -- Handlers that wait for a promise.
            CREATE TABLE waiter(
                id INTEGER PRIMARY KEY,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                promise INTEGER NOT NULL,
                next INTEGER,                   -- the promise that the handler is to settle
                name TEXT NOT NULL,
                handler BLOB NOT NULL,
                crashes INTEGER NOT NULL DEFAULT 0);
            CREATE INDEX waiter_promise ON waiter(account, promise);

            -- Handlers that could not be called.
            CREATE TABLE dead_letter(
                id INTEGER PRIMARY KEY,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                at INTEGER NOT NULL,
                origin TEXT NOT NULL,           -- what it waited for: 'request', 'timer', 'promise'; 'share': what was left
                name TEXT NOT NULL,             -- '' if not even that can be read
                reason TEXT NOT NULL,
                handler BLOB NOT NULL);
            """),
        Migration(
            "waiting/2",
            """
            -- How often requests were made that something outside makes the engine repeat.
            CREATE TABLE pace(
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                name TEXT NOT NULL,             -- the handler's
                key TEXT NOT NULL,              -- what the requests are about
                number INTEGER NOT NULL,        -- how many left in a row
                last INTEGER NOT NULL,          -- when the last one leaves, in the steady time
                PRIMARY KEY (account, name, key)) WITHOUT ROWID;
            CREATE INDEX pace_last ON pace(account, last);
            """),
    ]

    package static var handlers: [any Handler<Step>.Type] { [ForwardPromise.self, RequestDue.self] }

    package static func willEnd(_ step: Step) throws {
        while let promise = step.nextToDeliver() { try Promises(step: step).deliver(promise) }
    }

    package static var events: [any EventContent.Type] { [HandlerDeadLettered.self] }
}
