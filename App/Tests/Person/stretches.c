// How long GLib's main loop does one thing after another without waiting, for a program that has this by LD_PRELOAD: meanwhile it answers no
// key, and paints nothing else. Each stretch is a line in the file STRETCHES: its microseconds, and those of them on a processor.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int file = -1;
static int64_t since, used;

static int64_t now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

static int watched_poll(struct pollfd *files, unsigned count, int timeout) {
    if (since)
        dprintf(file, "%lld %lld\n", (long long)(now(CLOCK_MONOTONIC) - since), (long long)(now(CLOCK_THREAD_CPUTIME_ID) - used));
    int ready = poll(files, count, timeout);
    since = now(CLOCK_MONOTONIC);
    used = now(CLOCK_THREAD_CPUTIME_ID);
    return ready;
}

int g_application_run(void *application, int count, char **arguments) {
    int (*run)(void *, int, char **) = dlsym(RTLD_NEXT, "g_application_run");
    void (*set_poll)(void *, int (*)(struct pollfd *, unsigned, int)) = dlsym(RTLD_NEXT, "g_main_context_set_poll_func");
    const char *path = getenv("STRETCHES");
    if (path) file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file >= 0) set_poll(NULL, watched_poll);
    return run(application, count, arguments);
}
