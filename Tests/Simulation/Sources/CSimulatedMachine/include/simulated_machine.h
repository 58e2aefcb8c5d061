#ifndef SIMULATED_MACHINE_H
#define SIMULATED_MACHINE_H
#include <stddef.h>
#include <stdint.h>

// A machine whose disk lives in memory: SQLite's default VFS once it is installed, and a source of randomness that can be
// seeded. One thread uses it. What runs is said to be the code of a process; a process that is dead may go on running,
// but nothing that it does reaches the disk any more.

enum {
    MACHINE_READ = 1,
    MACHINE_WRITE = 2,
    MACHINE_SYNC = 4,
    MACHINE_TRUNCATE = 8,
    MACHINE_DELETE = 16,
    MACHINE_OPEN = 32,
    MACHINE_LOCK = 64,
};

/// What was done since the last reset.
struct machine_counts {
    long writes, syncs, kills, power_failures, failed, lost_writes, torn_writes;
};

/// Makes the disk SQLite's default one.
void machine_install(void);
/// Forgets all files. No database may be open.
void machine_reset(uint64_t seed);
/// Keeps all files as they are, for `machine_restore`. No database may be open.
void machine_keep(void);
/// Puts the files that were kept on the disk, synced; returns 0 if none were.
int machine_restore(void);
/// Keeps all files as they are, as a backup; databases may be open.
void machine_back_up(void);
/// Puts the disk back to the backup, synced; returns 0 if there is none. No database may be open.
int machine_put_back(void);
/// From now on the code of `process` (1 to 8191) runs.
void machine_run_as(int process);
/// Whether from now on somebody looks into databases that processes have open: that is no operation of theirs, and neither
/// fails nor ends them.
void machine_observe(int is_observed);
/// Which process's code runs; 0 if that of none.
int machine_running(void);
/// Milliseconds since 1970, for SQLite.
void machine_set_time(int64_t milliseconds);

/// Kills `process` now: its locks are gone, and what it does afterwards does not happen.
void machine_kill(int process);
/// Kills `process` right after its operation number `operations` from now on that changes anything.
void machine_kill_after(int process, long operations);
/// Freezes `process` right after its operation number `operations` from now on that changes anything, if it runs as a task;
/// with `within`, right after the first one from then on with which it keeps others from writing to that database.
void machine_freeze_after(int process, long operations, const char *within);
/// The process that keeps others from writing to the database at `path`: it is within a transaction, or opens or closes the
/// database; 0 if none does.
int machine_writer(const char *path);
/// From now on `body` is called whenever a process that lives is about to commit changes to the accounts' database.
void machine_on_commit(void (*body)(int process));
int machine_is_dead(int process);
/// The code of a dead process has come to its end and closed everything: shared memory is as it was when it died.
/// Returns how many files it has left open, which is a fault of the test.
int machine_bury(int process);

/// Operations of `process` of the kinds in `mask` fail with SQLite's `code`: the next `count` ones after `after` others.
void machine_fail(int process, int mask, long after, long count, int code);
/// When an operation of `process` failed last, in milliseconds since 1970; 0 if none did.
int64_t machine_failed_at(int process);
/// Whether `process` has committed a count of stanzas or of logins, and not synced the commit.
int machine_is_dirty(int process);
/// How often `process` has synced a file.
long machine_syncs(int process);
/// How many operations that change anything `process` has done.
long machine_operations(int process);

/// Code that can be frozen in the middle of a call: it has a thread, but only one thread of all runs at a time.
struct machine_task;
/// Runs `body(context)`. Returns NULL when that has returned; a task if it was frozen.
struct machine_task *machine_task_start(void (*body)(void *), void *context);
/// Runs the task on to its end, and frees it.
void machine_task_finish(struct machine_task *task);

/// The power fails: of what was not synced some survives and some does not. All processes must be dead and buried.
void machine_power_failure(uint64_t seed);

struct machine_counts machine_counts(void);

/// From now on the machine's randomness is that of `seed`: /dev/urandom, what SQLite asks for, and libcrypto's `RAND_bytes`.
void machine_seed_randomness(uint64_t seed);

#endif
