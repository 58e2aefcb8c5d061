#pragma once
#include <sqlite3.h>

/* SQLITE_STATIC is a cast, unavailable in Swift: SQLite keeps the address until the parameter is bound anew or cleared. */
// lives: until the caller's scope ends; the caller clears the parameters before (Statement.lend)
static inline int kalij_lend_blob(sqlite3_stmt *s, int i, const void *p, int n) { return sqlite3_bind_blob(s, i, p, n, SQLITE_STATIC); }
// lives: as above
static inline int kalij_lend_text(sqlite3_stmt *s, int i, const void *p, int n) { return sqlite3_bind_text(s, i, p, n, SQLITE_STATIC); }

/* Variable arguments, unavailable in Swift. Without the statistics of memory, an allocation takes no lock. */
static inline int kalij_omit_memory_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
