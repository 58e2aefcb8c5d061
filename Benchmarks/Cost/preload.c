// A monotonic clock that is as much slower as valgrind makes the process: a transaction then has as many steps as without valgrind.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SLOWER = 50 };

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*next)(clockid_t, struct timespec *);
    static long long first;
    if (!next) next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int status = next(clock, now);
    if (status != 0 || clock != CLOCK_MONOTONIC) return status;
    long long nanoseconds = now->tv_sec * 1000000000LL + now->tv_nsec;
    if (!first) first = nanoseconds;
    nanoseconds = first + (nanoseconds - first) / SLOWER;
    now->tv_sec = nanoseconds / 1000000000;
    now->tv_nsec = nanoseconds % 1000000000;
    return 0;
}

// Called for each page of a write-ahead log: the profile has the number of calls.
__attribute__((noinline)) void written_page(void) { __asm__ volatile(""); }

// A frame of the log is a header of 24 bytes and the page; before the first is the log's header of 32 bytes.
ssize_t pwrite64(int file, const void *bytes, size_t count, off_t offset) {
    if (count == 4096 && offset % (4096 + 24) == 32 + 24) written_page();
    return syscall(SYS_pwrite64, file, bytes, count, offset);
}
