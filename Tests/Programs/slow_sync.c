// Makes each sync of a file take SLOW_SYNC_MS milliseconds more, as a busy or a turning disk does. Preloaded into tests, servers and commands by
// Scripts/tests-under-load.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static void delay(void) {
    const char *text = getenv("SLOW_SYNC_MS");
    long milliseconds = text ? atol(text) : 50;
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    while (nanosleep(&time, &time) != 0) {}
}

int fsync(int descriptor) {
    static int (*system_fsync)(int);
    if (!system_fsync) system_fsync = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    delay();
    return system_fsync(descriptor);
}

int fdatasync(int descriptor) {
    static int (*system_fdatasync)(int);
    if (!system_fdatasync) system_fdatasync = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    delay();
    return system_fdatasync(descriptor);
}
