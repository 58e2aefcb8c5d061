#ifndef MACHINE_H
#define MACHINE_H
#include <sqlite3.h>

#include "simulated_machine.h"

enum { PROCESSES = 8192, SHM_LOCKS = 8, SECTOR = 512 };

/// A change that is not synced: bytes, or, where there are none, a new size.
struct change {
    struct change *next;
    size_t offset;
    size_t length;
    unsigned char *bytes;
};

struct image {
    unsigned char *bytes;
    size_t size, capacity;
};

struct handle;

struct file {
    struct file *next;
    char *path;
    /// What processes see, and what survives a power failure in any case.
    struct image now, durable;
    struct change *first, *last;
    int is_deleted, is_durable, is_temporary, open;
    int shared;
    struct handle *reserved, *pending, *exclusive;
    unsigned char **regions;
    int region_count, region_size, mapped;
    int shm_shared[SHM_LOCKS];
    struct handle *shm_exclusive[SHM_LOCKS];
    /// Shared memory as it was when a process died that is not buried yet.
    unsigned char **saved;
    int saved_count;
};

struct handle {
    sqlite3_file base;
    struct handle *next;
    struct file *file;
    int process, level, is_mapped;
    unsigned shm_shared, shm_exclusive;
};

struct process {
    int is_dead;
    /// Whether the transaction that it is in has changed a row.
    int has_changed;
    /// The same for counts of stanzas and of logins; and whether it has committed such changes and not synced them.
    int has_counted, is_dirty;
    long syncs;
    long operations, kill_at, freeze_at;
    /// It is frozen only while it writes to this file; empty for anywhere.
    char freeze_within[128];
    int fail_mask, fail_code;
    long fail_after, fail_count;
    int64_t failed_at;
};

struct machine {
    struct file *files;
    struct handle *handles;
    struct process processes[PROCESSES];
    int running;
    int is_observed;
    int64_t time;
    uint64_t random;
    struct machine_counts counts;
};

extern struct machine machine;

uint64_t machine_random(uint64_t *state);
/// SQLITE_OK, or how an operation of that kind fails.
int machine_begin(int process, int kind);
/// From now on each connection tells what it commits.
void commits_install(void);
/// Freezes the code that runs, if it is that of a task.
void task_park(void);
/// An operation that changes something has happened: the process may die or be frozen in it.
void machine_done(int process);

struct file *machine_find(const char *path);
struct file *machine_create(const char *path);
void machine_forget(struct file *file);
void image_resize(struct image *image, size_t size);
void file_change(struct file *file, size_t offset, const void *bytes, size_t length);
void file_sync(struct file *file);
void file_drop_changes(struct file *file);
void file_unlock(struct handle *handle, int level);
void shm_release_locks(struct handle *handle);
void shm_save(struct file *file);
void shm_free(struct file *file);

extern const sqlite3_io_methods machine_file_methods;
int shm_map(sqlite3_file *, int, int, int, void volatile **);
int shm_lock(sqlite3_file *, int, int, int);
void shm_barrier(sqlite3_file *);
int shm_unmap(sqlite3_file *, int);
#endif
