import KalijCore
import KalijHandlers
import KalijStore

/// Requests from the command line.
enum QuestionsFeature: Feature {
    package static let name = "questions"
    static let handlerPrefix = "question"

    package static let migrations: [Migration] = [
        Migration(
            "questions/1", version: 1,
            """
            -- What was asked on the command line, and what became of it.
            CREATE TABLE question(
                id INTEGER PRIMARY KEY,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                request TEXT NOT NULL,          -- the stanza's id
                recipient TEXT NOT NULL,
                asked_at INTEGER NOT NULL,
                answered_at INTEGER,
                outcome TEXT,                   -- 'result', 'error', 'timeout', 'invalidated'
                reason TEXT,
                answer BLOB,
                round_trip INTEGER);            -- milliseconds from when the request last left until the answer came
            """)
    ]

    package static var handlers: [any Handler<Step>.Type] {
        [AdHocResponse.self]
    }
}
