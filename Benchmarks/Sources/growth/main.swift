import Glibc
import KalijAddress
import KalijStore

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

// growth FOLDER MESSAGES CONVERSATIONS: makes a directory with an account that has so many messages, a few of each bad
// ending, and the other remains of a long life. The account is juliet@example.org.
// growth search FOLDER TEXTS: compares the index of so many texts with FTS5's own.

let words = CommandLine.arguments
if words.count == 4, words[1] == "search", let count = Int(words[3]) {
    try Searching.run(in: words[2], count)
    exit(0)
}
guard words.count == 4, let messages = Int64(words[2]), let conversations = Int64(words[3]) else {
    print("usage: growth FOLDER MESSAGES CONVERSATIONS, or growth search FOLDER TEXTS")
    exit(64)
}
let directory = AccountDirectory(words[1])
let driven = try directory.drive(role: .main, now: 1)
let database = driven.database
try AccountTable(database).store(
    jid: try JID("juliet@example.org"), server: ServerSettings(),
    login: SuccessfulLogin(mechanism: .plain, keys: nil, password: "secret"), resource: "balcony")
try database.transaction {
    try database.run(
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
        INSERT INTO message(account, direction, conversation, position, archive, stanza_id, message_id, origin_id, sender,
            recipient, type, body, shown, sent_at, received_at, state, settled, catchup)
        SELECT 1, CASE WHEN i % 3 = 0 THEN 'out' ELSE 'in' END, 'contact' || (i % ?2) || '@example.net', i, '',
            lower(hex(randomblob(16))), 'message-' || i, 'origin-' || i,
            CASE WHEN i % 3 = 0 THEN 'juliet@example.org/balcony' ELSE 'contact' || (i % ?2) || '@example.net/phone' END,
            'juliet@example.org', 'chat', 'what light through yonder window breaks, for the time number ' || i
                || CASE WHEN i % 1000 = 0 THEN ': the nightingale' ELSE '' END, 1,
            1700000000000 + i * 1000, 1700000000000 + i * 1000,
            CASE WHEN i % 3 = 0 THEN CASE WHEN i < 120 THEN 'sent' WHEN i < 240 THEN 'failed' ELSE 'acked' END END,
            i >= 120, 1
        FROM n
        """, [.integer(messages), .integer(conversations)])
    try database.run("UPDATE session SET position = ?1, messages = ?1", [.integer(messages)])
    try database.execute(
        """
        INSERT INTO queue(account, message, stanza) SELECT account, id, '<message/>' FROM message
            WHERE account = 1 AND state = 'sent';
        INSERT INTO notification(account, message, conversation, kind, done)
            SELECT account, id, conversation, 'show', id % 10 > 0 FROM message ORDER BY id DESC LIMIT 1000;
        INSERT INTO archive_range(account, archive, first_id, first_position, before_id, last_id, last_position, again_id,
            bottom) SELECT 1, '', 'a', 1, 'a', 'z', max(position), 'y', 1 FROM message;
        INSERT INTO catchup(account, archive, number, phase, since) VALUES (1, '', 1, 'done', 0);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
        INSERT INTO quarantine(account, at, reason, name, sender, size, stanza)
            SELECT 1, i, 'over the limit on depth', 'message', 'mallory@example.net', i, randomblob(i) FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
        INSERT INTO request(account, id, responder, asked_at, deadline, name, handler)
            SELECT 1, 'request-' || i, '', i, i, 'question.answered', x'' FROM n;
        """)
}
// As the driver does, without the pauses.
let index = SearchIndex(database: database)
while try index.hasWork() { _ = try database.transaction { try index.work() } }
try driven.fence.letGo(database)
try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
