#include <string.h>

#include "machine.h"

// Who commits: each connection to the accounts' database tells, while it holds the right to write still.

static void (*told)(int process);

void machine_on_commit(void (*body)(int process)) { told = body; }

static void updated(void *context, int operation, const char *database, const char *table, sqlite3_int64 row) {
    (void)operation, (void)database, (void)row;
    // A barrier syncs what was committed before: it says nothing by itself.
    if (strcmp(table, "session") == 0 || strcmp(table, "login_token") == 0)
        machine.processes[(intptr_t)context].has_counted = 1;
    if (strcmp(table, "barrier") != 0) machine.processes[(intptr_t)context].has_changed = 1;
}

static int committed(void *context) {
    struct process *it = &machine.processes[(intptr_t)context];
    int has_changed = it->has_changed;
    it->has_changed = 0;
    if (it->has_counted) it->is_dirty = 1;
    it->has_counted = 0;
    if (has_changed && !it->is_dead && told) told((int)(intptr_t)context);
    return 0;
}

static void rolled_back(void *context) {
    struct process *it = &machine.processes[(intptr_t)context];
    it->has_changed = it->has_counted = 0;
}

static int opened(sqlite3 *database, char **error, const void *routines) {
    (void)error, (void)routines;
    const char *path = sqlite3_db_filename(database, "main");
    const char *name = path ? strrchr(path, '/') : NULL;
    if (!name || strcmp(name, "/kalij.db") != 0) return SQLITE_OK;
    void *context = (void *)(intptr_t)machine.running;
    sqlite3_update_hook(database, updated, context);
    sqlite3_commit_hook(database, committed, context);
    sqlite3_rollback_hook(database, rolled_back, context);
    return SQLITE_OK;
}

void commits_install(void) { sqlite3_auto_extension((void (*)(void))opened); }
