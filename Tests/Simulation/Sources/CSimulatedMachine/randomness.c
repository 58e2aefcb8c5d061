#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "machine.h"

// Foundation makes its UUIDs of /dev/urandom. Here it reads a file of bytes that are the same for the same seed.

static uint64_t state, secrets, system_numbers;
static int is_seeded;

void machine_seed_randomness(uint64_t seed) {
    state = seed;
    secrets = ~seed;
    system_numbers = seed ^ 0x5eed;
    is_seeded = 1;
    // SQLite has a generator of its own, which begins with what the disk gives it.
    sqlite3_randomness(0, NULL);
}

static int seeded_bytes(void) {
    int descriptor = memfd_create("randomness", MFD_CLOEXEC);
    if (descriptor < 0) return descriptor;
    uint64_t bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = machine_random(&state);
    if (write(descriptor, bytes, sizeof bytes) < 0) return descriptor;
    lseek(descriptor, 0, SEEK_SET);
    return descriptor;
}

/// Takes the place of the C library's, for the whole program.
int open(const char *path, int flags, ...) {
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    if (is_seeded && strcmp(path, "/dev/urandom") == 0) return seeded_bytes();
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/// Takes the place of the standard library's, for SystemRandomNumberGenerator: nonces are the same for the same seed.
void swift_stdlib_random(void *bytes, intptr_t count) {
    for (intptr_t i = 0; i < count; i += 8) {
        uint64_t drawn = 0;
        if (is_seeded) drawn = machine_random(&system_numbers);
        // Eight bytes always come at once, without an error.
        else if (getentropy(&drawn, sizeof drawn)) abort();
        memcpy((char *)bytes + i, &drawn, count - i < 8 ? (size_t)(count - i) : 8);
    }
}

/// Takes the place of libcrypto's, for the keys of KalijRatchet: they are the same for the same seed.
int RAND_bytes(unsigned char *bytes, int count) {
    if (!is_seeded) return getentropy(bytes, (size_t)count) == 0;
    for (int i = 0; i < count; i += 8) {
        uint64_t drawn = machine_random(&secrets);
        memcpy(bytes + i, &drawn, count - i < 8 ? (size_t)(count - i) : 8);
    }
    return 1;
}
