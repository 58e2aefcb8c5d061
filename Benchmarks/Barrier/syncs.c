/* Counts the syncs of a process, and how long each of its SQLite transactions in WAL mode keeps the write lock; a
 * checkpoint after a transaction belongs to the transaction. To be preloaded; the counts are in the file of SYNCS,
 * however the process ends. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* SQLite's lock bytes in the -shm file: for writing, and for a checkpoint. */
enum { WRITING = 120, CHECKPOINT = 121, BUCKETS = 10000 };

static struct {
    /* Of write-ahead logs, of databases (one a checkpoint), of anything else; transactions. */
    uint64_t log, database, other, transactions;
    /* How many took so many tenths of a millisecond. */
    uint64_t took[BUCKETS];
} *counts;
static int (*sync_data)(int), (*sync_all)(int), (*control)(int, int, ...);
static struct timespec begun;
static int last = -1;

__attribute__((constructor)) static void begin(void) {
    sync_data = dlsym(RTLD_NEXT, "fdatasync");
    sync_all = dlsym(RTLD_NEXT, "fsync");
    control = dlsym(RTLD_NEXT, "fcntl64");
    const char *path = getenv("SYNCS");
    int file = path ? open(path, O_RDWR | O_CREAT, 0600) : -1;
    if (file < 0 || ftruncate(file, sizeof *counts)) abort();
    counts = mmap(0, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (counts == MAP_FAILED) abort();
    close(file);
}

static void count(int file) {
    char link[32], path[512];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, sizeof path);
    if (size > 4 && !memcmp(path + size - 4, "-wal", 4)) counts->log++;
    else if (size > 3 && !memcmp(path + size - 3, ".db", 3)) counts->database++;
    else counts->other++;
}

int fdatasync(int file) { return count(file), sync_data(file); }
int fsync(int file) { return count(file), sync_all(file); }

static int tenths(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t all = ((now.tv_sec - begun.tv_sec) * 1000000000LL + now.tv_nsec - begun.tv_nsec) / 100000;
    return all < BUCKETS ? all : BUCKETS - 1;
}

static void locked(const struct flock *lock) {
    if (lock->l_start == WRITING && lock->l_type == F_WRLCK) {
        clock_gettime(CLOCK_MONOTONIC, &begun);
    } else if (lock->l_start == WRITING && lock->l_type == F_UNLCK) {
        counts->transactions++;
        counts->took[last = tenths()]++;
    } else if (lock->l_start == CHECKPOINT && lock->l_type == F_UNLCK && last >= 0) {
        counts->took[last]--;
        counts->took[last = tenths()]++;
    }
}

int fcntl64(int file, int command, ...) {
    va_list values;
    va_start(values, command);
    void *value = va_arg(values, void *);
    va_end(values);
    int result = control(file, command, value);
    if (command == F_SETLK && result == 0) locked(value);
    return result;
}

int fcntl(int file, int command, ...) {
    va_list values;
    va_start(values, command);
    void *value = va_arg(values, void *);
    va_end(values);
    return fcntl64(file, command, value);
}
