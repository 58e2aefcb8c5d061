/* Writes the rows of a kalij.db again, with nothing around it: the floor for `kalij run`.
 *
 * usage: bare FROM.db TO.db [SYNC_EVERY [TOGETHER]]
 * So many messages share a transaction, one if not given. TO.db is made with FROM.db's schema. With SYNC_EVERY a synchronous commit follows every so many messages, as an
 * acknowledgement needs. Prints one JSON line. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COLUMNS 16
static sqlite3 *to;

static void check(int result, sqlite3 *db, const char *what) {
    if (result == SQLITE_OK || result == SQLITE_DONE || result == SQLITE_ROW) return;
    fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(db));
    exit(1);
}

static void run(sqlite3 *db, const char *sql) { check(sqlite3_exec(db, sql, 0, 0, 0), db, sql); }

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement;
    check(sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, 0), db, sql);
    return statement;
}

static int copy_schema(void *unused, int count, char **values, char **names) {
    if (values[0]) run(to, values[0]);
    return 0;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int count, char **words) {
    if (count < 3) return 64;
    int every = count > 3 ? atoi(words[3]) : 0, together = count > 4 ? atoi(words[4]) : 1;
    if (together < 1) return 64;
    sqlite3 *from;
    check(sqlite3_open(words[1], &from), from, words[1]);
    check(sqlite3_open(words[2], &to), to, words[2]);
    run(to, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL");
    sqlite3_exec(from, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' "
        /* The tables that FTS5 makes by itself. */
        "AND name NOT LIKE 'search_text_%'", copy_schema, 0, 0);
    run(to, "INSERT INTO account(id, jid, resource, direct_tls, mechanism, password, created_at) VALUES (1, 'juliet@localhost', 'r', 1, 'PLAIN', 'x', 0);"
            "INSERT INTO session(account, number, handled, acknowledged, position, archive) VALUES (1, 1, 0, 0, 0, 0)");
    sqlite3_stmt *begin = prepare(to, "BEGIN IMMEDIATE"), *commit = prepare(to, "COMMIT"),
        *insert = prepare(to, "INSERT INTO message(account, direction, conversation, position, archive, stanza_id, "
            "message_id, origin_id, sender, recipient, type, body, sent_at, received_at, state, shown) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
        *session = prepare(to, "UPDATE session SET handled = handled + 1, position = position + 1 WHERE account = 1"),
        *barrier = prepare(to, "INSERT INTO barrier VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET number = number + 1"),
        *rows = prepare(from, "SELECT account, direction, conversation, position, archive, stanza_id, message_id, origin_id, "
            "sender, recipient, type, body, sent_at, received_at, state, shown FROM message ORDER BY id");
    /* Read first, so that reading is not measured. */
    int stored = 0, room = 1024;
    sqlite3_value **values = malloc(sizeof(*values) * COLUMNS * room);
    while (sqlite3_step(rows) == SQLITE_ROW) {
        if (stored == room) values = realloc(values, sizeof(*values) * COLUMNS * (room *= 2));
        for (int i = 0; i < COLUMNS; i++) values[stored * COLUMNS + i] = sqlite3_value_dup(sqlite3_column_value(rows, i));
        stored++;
    }
    double start = now();
    for (int row = 0; row < stored; row++) {
        if (row % together == 0) check(sqlite3_step(begin), to, "begin"), sqlite3_reset(begin);
        for (int i = 0; i < COLUMNS; i++) check(sqlite3_bind_value(insert, i + 1, values[row * COLUMNS + i]), to, "bind");
        check(sqlite3_step(insert), to, "insert"), sqlite3_reset(insert);
        check(sqlite3_step(session), to, "session"), sqlite3_reset(session);
        if ((row + 1) % together && row + 1 < stored) continue;
        check(sqlite3_step(commit), to, "commit"), sqlite3_reset(commit);
        if (!every || (row + 1) / every == (row + 1 - together) / every) continue;
        run(to, "PRAGMA synchronous=FULL");
        check(sqlite3_step(barrier), to, "barrier"), sqlite3_reset(barrier);
        run(to, "PRAGMA synchronous=NORMAL");
    }
    double seconds = now() - start;
    printf("{\"rows\": %d, \"seconds\": %.4f}\n", stored, seconds);
    return 0;
}
