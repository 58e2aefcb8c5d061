#include "machine.h"

#include <stdlib.h>
#include <string.h>

// Files: what processes see, what survives, and the changes between the two.

void image_resize(struct image *image, size_t size) {
    if (size > image->capacity) {
        size_t capacity = image->capacity ? image->capacity : 4096;
        while (capacity < size) capacity *= 2;
        image->bytes = realloc(image->bytes, capacity);
        image->capacity = capacity;
    }
    if (size > image->size) memset(image->bytes + image->size, 0, size - image->size);
    image->size = size;
}

struct file *machine_find(const char *path) {
    for (struct file *file = machine.files; file; file = file->next)
        if (!file->is_deleted && file->path && strcmp(file->path, path) == 0) return file;
    return NULL;
}

struct file *machine_create(const char *path) {
    struct file *file = calloc(1, sizeof *file);
    file->path = path ? strdup(path) : NULL;
    file->next = machine.files;
    machine.files = file;
    return file;
}

void file_drop_changes(struct file *file) {
    while (file->first) {
        struct change *next = file->first->next;
        free(file->first);
        file->first = next;
    }
    file->last = NULL;
}

void machine_forget(struct file *file) {
    file_drop_changes(file);
    shm_free(file);
    free(file->now.bytes);
    free(file->durable.bytes);
    free(file->path);
    free(file);
}

void file_change(struct file *file, size_t offset, const void *bytes, size_t length) {
    if (bytes) {
        if (file->now.size < offset + length) image_resize(&file->now, offset + length);
        memcpy(file->now.bytes + offset, bytes, length);
    } else {
        image_resize(&file->now, offset);
    }
    if (file->is_temporary) return;
    // The bytes stand behind the change, in the same piece of memory.
    struct change *change = malloc(sizeof *change + length);
    *change = (struct change){.offset = offset, .length = length};
    if (bytes) {
        change->bytes = (unsigned char *)(change + 1);
        memcpy(change->bytes, bytes, length);
    }
    if (file->last) file->last->next = change;
    else file->first = change;
    file->last = change;
}

void file_sync(struct file *file) {
    for (struct change *change = file->first; change; change = change->next) {
        if (!change->bytes) {
            image_resize(&file->durable, change->offset);
            continue;
        }
        size_t end = change->offset + change->length;
        if (file->durable.size < end) image_resize(&file->durable, end);
        memcpy(file->durable.bytes + change->offset, change->bytes, change->length);
    }
    file_drop_changes(file);
    file->is_durable = 1;
    // A file system with a journal, as all are today: whatever happened to its directories before is on the disk, too.
    for (struct file *other = machine.files; other; other = other->next)
        if (other->is_deleted) other->is_durable = 0;
}

// As SQLite calls them

static struct handle *handle_of(sqlite3_file *file) { return (struct handle *)file; }

static int file_close(sqlite3_file *base) {
    struct handle *handle = handle_of(base);
    file_unlock(handle, SQLITE_LOCK_NONE);
    if (handle->is_mapped) shm_unmap(base, 0);
    for (struct handle **link = &machine.handles; *link; link = &(*link)->next) {
        if (*link != handle) continue;
        *link = handle->next;
        break;
    }
    handle->file->open--;
    return SQLITE_OK;
}

static int file_read(sqlite3_file *base, void *bytes, int length, sqlite3_int64 offset) {
    struct handle *handle = handle_of(base);
    int result = machine_begin(handle->process, MACHINE_READ);
    if (result != SQLITE_OK) return result;
    struct image *image = &handle->file->now;
    size_t start = (size_t)offset, wanted = (size_t)length;
    size_t there = start >= image->size ? 0 : image->size - start;
    size_t count = there < wanted ? there : wanted;
    if (count) memcpy(bytes, image->bytes + start, count);
    if (count == wanted) return SQLITE_OK;
    memset((char *)bytes + count, 0, wanted - count);
    return SQLITE_IOERR_SHORT_READ;
}

static int file_write(sqlite3_file *base, const void *bytes, int length, sqlite3_int64 offset) {
    struct handle *handle = handle_of(base);
    int result = machine_begin(handle->process, MACHINE_WRITE);
    if (result != SQLITE_OK) return result;
    file_change(handle->file, (size_t)offset, bytes, (size_t)length);
    machine.counts.writes++;
    machine_done(handle->process);
    return SQLITE_OK;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size) {
    struct handle *handle = handle_of(base);
    int result = machine_begin(handle->process, MACHINE_TRUNCATE);
    if (result != SQLITE_OK) return result;
    file_change(handle->file, (size_t)size, NULL, 0);
    machine_done(handle->process);
    return SQLITE_OK;
}

static int file_synchronize(sqlite3_file *base, int flags) {
    (void)flags;
    struct handle *handle = handle_of(base);
    int result = machine_begin(handle->process, MACHINE_SYNC);
    if (result != SQLITE_OK) return result;
    file_sync(handle->file);
    machine.counts.syncs++;
    machine.processes[handle->process].syncs++;
    if (strstr(handle->file->path, "/kalij.db-wal")) machine.processes[handle->process].is_dirty = 0;
    machine_done(handle->process);
    return SQLITE_OK;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size) {
    *size = (sqlite3_int64)handle_of(base)->file->now.size;
    return SQLITE_OK;
}

// Locks of a database file (https://sqlite.org/lockingv3.html)

static int file_lock(sqlite3_file *base, int level) {
    struct handle *handle = handle_of(base);
    struct file *file = handle->file;
    int result = machine_begin(handle->process, MACHINE_LOCK);
    if (result != SQLITE_OK) return result;
    if (handle->level >= level) return SQLITE_OK;
    if (level == SQLITE_LOCK_SHARED) {
        if (file->pending || file->exclusive) return SQLITE_BUSY;
        file->shared++;
    } else if (level == SQLITE_LOCK_RESERVED) {
        if (file->reserved || file->pending) return SQLITE_BUSY;
        file->reserved = handle;
    } else {
        if (file->pending && file->pending != handle) return SQLITE_BUSY;
        file->pending = handle;
        if (file->shared > 1) {
            handle->level = SQLITE_LOCK_PENDING;
            return SQLITE_BUSY;
        }
        file->exclusive = handle;
    }
    handle->level = level;
    return SQLITE_OK;
}

void file_unlock(struct handle *handle, int level) {
    struct file *file = handle->file;
    if (handle->level <= level) return;
    if (file->reserved == handle) file->reserved = NULL;
    if (file->pending == handle) file->pending = NULL;
    if (file->exclusive == handle) file->exclusive = NULL;
    if (level == SQLITE_LOCK_NONE) file->shared--;
    handle->level = level;
}

static int file_unlock_to(sqlite3_file *base, int level) {
    file_unlock(handle_of(base), level);
    return SQLITE_OK;
}

static int file_check_reserved(sqlite3_file *base, int *reserved) {
    struct file *file = handle_of(base)->file;
    *reserved = file->reserved || file->pending || file->exclusive;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *base, int operation, void *argument) {
    (void)base, (void)operation, (void)argument;
    return SQLITE_NOTFOUND;
}

static int file_sector_size(sqlite3_file *base) {
    (void)base;
    return 4096;
}

// What SQLite's own file system interface says of every disk.
static int file_characteristics(sqlite3_file *base) {
    (void)base;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

const sqlite3_io_methods machine_file_methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_synchronize,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock_to,
    .xCheckReservedLock = file_check_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = shm_map,
    .xShmLock = shm_lock,
    .xShmBarrier = shm_barrier,
    .xShmUnmap = shm_unmap,
};
