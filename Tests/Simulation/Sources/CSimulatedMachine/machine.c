#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct machine machine;

uint64_t machine_random(uint64_t *state) {
    // splitmix64
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/// What each simulation begins with; and the disk at some earlier time.
static struct file *kept, *backup;

static void forget_all(struct file **list) {
    while (*list) {
        struct file *next = (*list)->next;
        machine_forget(*list);
        *list = next;
    }
}

void machine_reset(uint64_t seed) {
    if (machine.handles) {
        fprintf(stderr, "process %d still has %s open\n", machine.handles->process, machine.handles->file->path);
        abort();
    }
    forget_all(&machine.files);
    forget_all(&backup);
    memset(&machine, 0, sizeof machine);
    machine.random = seed;
}

// What each simulation begins with

static void keep(struct file **list) {
    for (struct file *file = machine.files; file; file = file->next) {
        if (file->is_deleted || file->is_temporary || !file->path || !file->now.size) continue;
        struct file *copy = calloc(1, sizeof *copy);
        copy->path = strdup(file->path);
        image_resize(&copy->now, file->now.size);
        memcpy(copy->now.bytes, file->now.bytes, file->now.size);
        copy->next = *list;
        *list = copy;
    }
}

static int put_back(struct file *list) {
    for (struct file *file = list; file; file = file->next) {
        struct file *copy = machine_create(file->path);
        file_change(copy, 0, file->now.bytes, file->now.size);
        file_sync(copy);
    }
    return list != NULL;
}

void machine_keep(void) { keep(&kept); }
int machine_restore(void) { return put_back(kept); }

void machine_back_up(void) {
    forget_all(&backup);
    keep(&backup);
}

int machine_put_back(void) {
    if (!backup || machine.handles) return 0;
    forget_all(&machine.files);
    return put_back(backup);
}

int64_t machine_failed_at(int process) { return machine.processes[process].failed_at; }
int machine_running(void) { return machine.running; }
void machine_run_as(int process) { machine.running = process; }
void machine_observe(int is_observed) { machine.is_observed = is_observed; }
void machine_set_time(int64_t milliseconds) { machine.time = milliseconds; }
int machine_is_dead(int process) { return machine.processes[process].is_dead; }
int machine_is_dirty(int process) { return machine.processes[process].is_dirty; }
long machine_syncs(int process) { return machine.processes[process].syncs; }
long machine_operations(int process) { return machine.processes[process].operations; }
struct machine_counts machine_counts(void) { return machine.counts; }

// Death

void machine_kill(int process) {
    if (machine.processes[process].is_dead) return;
    machine.processes[process].is_dead = 1;
    machine.counts.kills++;
    for (struct handle *handle = machine.handles; handle; handle = handle->next) {
        if (handle->process != process) continue;
        file_unlock(handle, SQLITE_LOCK_NONE);
        if (!handle->is_mapped) continue;
        shm_release_locks(handle);
        shm_save(handle->file);
    }
}

void machine_kill_after(int process, long operations) {
    struct process *it = &machine.processes[process];
    it->kill_at = it->operations + operations;
}

void machine_freeze_after(int process, long operations, const char *within) {
    struct process *it = &machine.processes[process];
    it->freeze_at = it->operations + operations;
    snprintf(it->freeze_within, sizeof it->freeze_within, "%s", within ? within : "");
}

int machine_writer(const char *path) {
    struct file *file = machine_find(path);
    if (!file) return 0;
    // WAL_WRITE_LOCK is the first of the shared memory's locks. The last one that closes a database keeps everybody out of it
    // while it moves the write-ahead log into it.
    struct handle *holder = file->shm_exclusive[0] ? file->shm_exclusive[0]
        : file->exclusive ? file->exclusive : file->pending ? file->pending : file->reserved;
    return holder ? holder->process : 0;
}

int machine_bury(int process) {
    int left = 0;
    for (struct handle *handle = machine.handles; handle; handle = handle->next) left += handle->process == process;
    for (struct file *file = machine.files; file; file = file->next) {
        if (!file->saved) continue;
        for (int i = 0; i < file->saved_count; i++) {
            if (i < file->region_count) memcpy(file->regions[i], file->saved[i], file->region_size);
            free(file->saved[i]);
        }
        free(file->saved);
        file->saved = NULL;
    }
    return left;
}

// Faults

void machine_fail(int process, int mask, long after, long count, int code) {
    struct process *it = &machine.processes[process];
    it->fail_mask = mask;
    it->fail_after = after;
    it->fail_count = count;
    it->fail_code = code;
}

int machine_begin(int process, int kind) {
    struct process *it = &machine.processes[process];
    if (it->is_dead) return SQLITE_IOERR;
    if (machine.is_observed || !(it->fail_mask & kind) || it->fail_count == 0) return SQLITE_OK;
    if (it->fail_after-- > 0) return SQLITE_OK;
    it->fail_count--;
    it->failed_at = machine.time;
    machine.counts.failed++;
    return it->fail_code;
}

void machine_done(int process) {
    if (machine.is_observed) return;
    struct process *it = &machine.processes[process];
    it->operations++;
    if (it->kill_at && it->operations == it->kill_at) machine_kill(process);
    if (!it->freeze_at || it->operations < it->freeze_at || it->is_dead) return;
    if (it->freeze_within[0] && machine_writer(it->freeze_within) != process) return;
    it->freeze_at = 0;
    task_park();
}

// Power

/// Applies a part of a change: whole sectors of the bytes, each with a chance of a half if it is torn.
static void survive(struct file *file, const struct change *change, int torn, uint64_t *random) {
    if (!change->bytes) {
        image_resize(&file->durable, change->offset);
        return;
    }
    if (file->durable.size < change->offset + change->length)
        image_resize(&file->durable, change->offset + change->length);
    for (size_t at = 0; at < change->length; at += SECTOR) {
        if (torn && machine_random(random) & 1) continue;
        size_t length = change->length - at < SECTOR ? change->length - at : SECTOR;
        memcpy(file->durable.bytes + change->offset + at, change->bytes + at, length);
    }
}

static void fail_power(struct file *file, uint64_t *random) {
    enum { NOTHING, PREFIX, SOME, TORN, EVERYTHING, WAYS } way = machine_random(random) % WAYS;
    long count = 0;
    for (struct change *change = file->first; change; change = change->next) count++;
    long prefix = count ? (long)(machine_random(random) % (uint64_t)(count + 1)) : 0;
    long index = 0;
    for (struct change *change = file->first; change; change = change->next, index++) {
        int survives = way == EVERYTHING || (way == PREFIX && index < prefix) ||
            ((way == SOME || way == TORN) && machine_random(random) % 2);
        if (survives) {
            survive(file, change, way == TORN, random);
            machine.counts.torn_writes += way == TORN;
            file->is_durable = 1;
        } else {
            machine.counts.lost_writes++;
        }
    }
    file_drop_changes(file);
    image_resize(&file->now, file->durable.size);
    if (file->durable.size) memcpy(file->now.bytes, file->durable.bytes, file->durable.size);
}

void machine_power_failure(uint64_t seed) {
    uint64_t random = seed;
    machine.counts.power_failures++;
    for (struct file *file = machine.files; file; file = file->next) fail_power(file, &random);
    // The directory was not synced either: a file that was deleted may be back, one that was made may be missing.
    for (struct file *file = machine.files; file; file = file->next) {
        if (file->is_deleted && file->is_durable && machine_random(&random) % 2) {
            struct file *other = machine_find(file->path);
            if (other && other->is_durable) continue;
            if (other) other->is_deleted = 1;
            file->is_deleted = 0;
        } else if (!file->is_durable) {
            file->is_deleted = 1;
        }
    }
}
