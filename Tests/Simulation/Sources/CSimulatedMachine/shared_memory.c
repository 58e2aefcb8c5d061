#include "machine.h"

#include <stdlib.h>
#include <string.h>

// The shared memory that connections in WAL mode have beside a database (https://sqlite.org/walformat.html, 2).

int shm_map(sqlite3_file *base, int region, int size, int extend, void volatile **address) {
    struct handle *handle = (struct handle *)base;
    struct file *file = handle->file;
    *address = NULL;
    int result = machine_begin(handle->process, MACHINE_LOCK);
    if (result != SQLITE_OK) return result;
    if (!handle->is_mapped) {
        handle->is_mapped = 1;
        file->mapped++;
    }
    file->region_size = size;
    if (region >= file->region_count) {
        if (!extend) return SQLITE_OK;
        file->regions = realloc(file->regions, (size_t)(region + 1) * sizeof *file->regions);
        while (file->region_count <= region) file->regions[file->region_count++] = calloc(1, (size_t)size);
    }
    *address = file->regions[region];
    return SQLITE_OK;
}

int shm_lock(sqlite3_file *base, int offset, int count, int flags) {
    struct handle *handle = (struct handle *)base;
    struct file *file = handle->file;
    if (machine_is_dead(handle->process)) return SQLITE_IOERR;
    int is_exclusive = flags & SQLITE_SHM_EXCLUSIVE;
    for (int i = offset; i < offset + count && flags & SQLITE_SHM_LOCK; i++) {
        int others = file->shm_shared[i] - ((handle->shm_shared >> i) & 1);
        if (file->shm_exclusive[i] && file->shm_exclusive[i] != handle) return SQLITE_BUSY;
        if (is_exclusive && others) return SQLITE_BUSY;
    }
    for (int i = offset; i < offset + count; i++) {
        unsigned bit = 1u << i;
        if (flags & SQLITE_SHM_LOCK && is_exclusive) {
            file->shm_exclusive[i] = handle;
            handle->shm_exclusive |= bit;
        } else if (flags & SQLITE_SHM_LOCK) {
            file->shm_shared[i] += !(handle->shm_shared & bit);
            handle->shm_shared |= bit;
        } else if (is_exclusive) {
            if (handle->shm_exclusive & bit) file->shm_exclusive[i] = NULL;
            handle->shm_exclusive &= ~bit;
        } else {
            file->shm_shared[i] -= (handle->shm_shared & bit) != 0;
            handle->shm_shared &= ~bit;
        }
    }
    // The end of a commit is where a lock is given back.
    if (flags & SQLITE_SHM_UNLOCK && is_exclusive) machine_done(handle->process);
    return SQLITE_OK;
}

void shm_release_locks(struct handle *handle) {
    for (int i = 0; i < SHM_LOCKS; i++) {
        if (handle->shm_exclusive & 1u << i) handle->file->shm_exclusive[i] = NULL;
        if (handle->shm_shared & 1u << i) handle->file->shm_shared[i]--;
    }
    handle->shm_exclusive = handle->shm_shared = 0;
}

void shm_barrier(sqlite3_file *base) { (void)base; }

int shm_unmap(sqlite3_file *base, int delete) {
    (void)delete;
    struct handle *handle = (struct handle *)base;
    if (!handle->is_mapped) return SQLITE_OK;
    shm_release_locks(handle);
    handle->is_mapped = 0;
    // Whoever maps it first clears it.
    if (--handle->file->mapped == 0) shm_free(handle->file);
    return SQLITE_OK;
}

void shm_save(struct file *file) {
    if (file->saved) return;
    file->saved_count = file->region_count;
    file->saved = calloc((size_t)file->region_count + 1, sizeof *file->saved);
    for (int i = 0; i < file->region_count; i++) {
        file->saved[i] = malloc((size_t)file->region_size);
        memcpy(file->saved[i], file->regions[i], (size_t)file->region_size);
    }
}

void shm_free(struct file *file) {
    for (int i = 0; i < file->region_count; i++) free(file->regions[i]);
    free(file->regions);
    file->regions = NULL;
    file->region_count = 0;
}
