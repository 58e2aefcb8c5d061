#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "machine.h"

// The disk as SQLite sees it.

static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags, int *given) {
    (void)vfs;
    struct handle *handle = (struct handle *)base;
    memset(handle, 0, sizeof *handle);
    int result = machine_begin(machine.running, MACHINE_OPEN);
    if (result != SQLITE_OK) return result;
    struct file *file = path ? machine_find(path) : NULL;
    // The store makes its database's file itself, on the real disk, before SQLite is asked to open it.
    int may_create = !path || flags & (SQLITE_OPEN_CREATE | SQLITE_OPEN_MAIN_DB);
    if (!file && !may_create) return SQLITE_CANTOPEN;
    if (!file) file = machine_create(path);
    file->is_temporary = !path;
    file->open++;
    handle->base.pMethods = &machine_file_methods;
    handle->file = file;
    handle->process = machine.running;
    handle->next = machine.handles;
    machine.handles = handle;
    if (given) *given = flags;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int sync_directory) {
    (void)vfs;
    int result = machine_begin(machine.running, MACHINE_DELETE);
    if (result != SQLITE_OK) return result;
    struct file *file = machine_find(path);
    if (!file) return SQLITE_IOERR_DELETE_NOENT;
    file->is_deleted = 1;
    if (sync_directory) file->is_durable = 0;
    machine_done(machine.running);
    return SQLITE_OK;
}

static int vfs_access(sqlite3_vfs *vfs, const char *path, int flags, int *result) {
    (void)vfs, (void)flags;
    struct file *file = machine_find(path);
    *result = file && (flags != SQLITE_ACCESS_EXISTS || file->now.size > 0);
    return SQLITE_OK;
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *path, int size, char *full) {
    (void)vfs;
    snprintf(full, (size_t)size, "%s", path);
    return SQLITE_OK;
}

static int vfs_randomness(sqlite3_vfs *vfs, int count, char *bytes) {
    (void)vfs;
    for (int i = 0; i < count; i++) bytes[i] = (char)machine_random(&machine.random);
    return count;
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds) {
    (void)vfs;
    return microseconds;
}

static int vfs_time(sqlite3_vfs *vfs, sqlite3_int64 *time) {
    (void)vfs;
    *time = machine.time + 210866760000000;  // milliseconds of the Julian day of 1970
    return SQLITE_OK;
}

static int vfs_last_error(sqlite3_vfs *vfs, int size, char *text) {
    (void)vfs, (void)size, (void)text;
    return 0;
}

static sqlite3_vfs vfs = {
    .iVersion = 2,
    .szOsFile = sizeof(struct handle),
    .mxPathname = 512,
    .zName = "simulated",
    .xOpen = vfs_open,
    .xDelete = vfs_delete,
    .xAccess = vfs_access,
    .xFullPathname = vfs_full_path,
    .xRandomness = vfs_randomness,
    .xSleep = vfs_sleep,
    .xGetLastError = vfs_last_error,
    .xCurrentTimeInt64 = vfs_time,
};

void machine_install(void) {
    static int is_installed;
    if (is_installed) return;
    is_installed = 1;
    // One thread runs at a time: nothing of SQLite's needs a lock. What is freed is used again at once.
    sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_ARENA_MAX, 1);
    sqlite3_vfs_register(&vfs, 1);
    commits_install();
}
