/* Loaded into `kalij` (LD_PRELOAD) by the tests of handing over.

   Freezes the process, as SIGSTOP from outside would, at the point in KALIJ_FREEZE, at the COUNTth pass:
   "POINT:COUNT", POINT being

     inside     within a transaction of the accounts' database, all of it done but the commit
     unwritten  between a commit and the next write to the server
     unsent     the same, before the write of a message
     fence      right after the commit of the fence
     resume     before <resume/> is written; `asked`: after it
     resumed    <resumed/> was read, and nothing was done about it

   A file with the log's name and ".off" calls the freeze off for processes that have not passed yet.

   And, frozen or not, looks into each transaction committed after the process has taken the fence: whether the fence is
   still the process's own. Both is written to KALIJ_FREEZE_LOG, a line each: PID WHAT [NUMBER OTHER]. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char point[32];
static int left;
static sqlite3_int64 own;        /* the last fence of this process */
static int takes_fence, committed;

static int (*real_step)(sqlite3_stmt *);
static int (*real_write)(SSL *, const void *, size_t, size_t *);
static int (*real_read)(SSL *, void *, size_t, size_t *);

__attribute__((constructor)) static void begin(void) {
    const char *wanted = getenv("KALIJ_FREEZE");
    if (wanted) sscanf(wanted, "%31[a-z]:%d", point, &left);
    real_step = (int (*)(sqlite3_stmt *))dlsym(RTLD_NEXT, "sqlite3_step");
    real_write = (int (*)(SSL *, const void *, size_t, size_t *))dlsym(RTLD_NEXT, "SSL_write_ex");
    real_read = (int (*)(SSL *, void *, size_t, size_t *))dlsym(RTLD_NEXT, "SSL_read_ex");
}

static void say(const char *what, sqlite3_int64 mine, sqlite3_int64 now) {
    const char *path = getenv("KALIJ_FREEZE_LOG");
    if (!path) return;
    char line[128];
    int length = snprintf(line, sizeof line, "%d %s %lld %lld\n", (int)getpid(), what, (long long)mine, (long long)now);
    int log = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (log < 0) return;
    if (write(log, line, (size_t)length) < 0) { /* the test misses the line */ }
    close(log);
}

static int is_off(void) {
    char path[4096];
    const char *log = getenv("KALIJ_FREEZE_LOG");
    return log && snprintf(path, sizeof path, "%s.off", log) < (int)sizeof path && access(path, F_OK) == 0;
}

static void at(const char *where) {
    if (strcmp(point, where) != 0 || left <= 0 || --left > 0 || is_off()) return;
    say(where, own, 0);
    kill(getpid(), SIGSTOP);
    say("thawed", own, 0);
}

static int is_accounts(sqlite3 *database) {
    const char *path = sqlite3_db_filename(database, "main");
    size_t length = path ? strlen(path) : 0;
    return length > 9 && strcmp(path + length - 9, "/kalij.db") == 0;
}

static sqlite3_int64 fence(sqlite3 *database) {
    sqlite3_stmt *statement;
    sqlite3_int64 number = -1;
    if (sqlite3_prepare_v2(database, "SELECT number FROM fence", -1, &statement, NULL) != SQLITE_OK) return number;
    if (real_step(statement) == SQLITE_ROW) number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

static int commit(sqlite3_stmt *statement, sqlite3 *database) {
    sqlite3_int64 now = fence(database);
    if (takes_fence) own = now;
    at("inside");
    int result = real_step(statement);
    if (result == SQLITE_DONE) {
        /* Read in the transaction that is now committed: nobody else could have raised the fence meanwhile. */
        if (own && now != own) say("stale", own, now);
        committed = 1;
        if (takes_fence) {
            say("took", own, 0);
            takes_fence = 0;
            at("fence");
        }
    }
    return result;
}

int sqlite3_step(sqlite3_stmt *statement) {
    const char *sql = sqlite3_sql(statement);
    if (!sql) return real_step(statement);
    sqlite3 *database = sqlite3_db_handle(statement);
    if (strcmp(sql, "COMMIT") == 0 && sqlite3_txn_state(database, "main") == SQLITE_TXN_WRITE && is_accounts(database))
        return commit(statement, database);
    int result = real_step(statement);
    if (strncmp(sql, "INSERT OR REPLACE INTO fence", 28) == 0 && result == SQLITE_DONE) takes_fence = 1;
    if (strcmp(sql, "ROLLBACK") == 0 && is_accounts(database)) takes_fence = 0;
    return result;
}

int SSL_write_ex(SSL *ssl, const void *bytes, size_t count, size_t *written) {
    int is_resume = memmem(bytes, count, "<resume ", 8) != NULL;
    if (committed && !is_resume) {
        at("unwritten");
        if (memmem(bytes, count, "<message", 8)) at("unsent");
    }
    committed = 0;
    if (is_resume) at("resume");
    int result = real_write(ssl, bytes, count, written);
    if (is_resume && result == 1) at("asked");
    return result;
}

int SSL_read_ex(SSL *ssl, void *bytes, size_t count, size_t *read) {
    int result = real_read(ssl, bytes, count, read);
    if (result == 1 && memmem(bytes, *read, "<resumed ", 9)) at("resumed");
    return result;
}
