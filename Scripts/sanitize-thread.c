// Tells ThreadSanitizer of Swift's Mutex. Its fast path is compiled into our code, and instrumented; who has to wait gets the
// mutex in the library, which is not, and everything that the last owner has written would look like a race. Loaded with
// LD_PRELOAD in front of that library.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

// Missing in programs that are not instrumented, which inherit the environment.
extern void __tsan_acquire(void *address) __attribute__((weak));

// Synchronization._MutexHandle._lockSlow(UInt32). The handle begins with the atomic number that the owner before has released.
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define SELF __attribute__((swift_context))

__attribute__((swiftcall)) void lock(uint32_t state, SELF void *handle) __asm__(LOCK);

__attribute__((swiftcall)) void lock(uint32_t state, SELF void *handle) {
    typedef __attribute__((swiftcall)) void (*Lock)(uint32_t, SELF void *);
    ((Lock)dlsym(RTLD_NEXT, LOCK))(state, handle);
    if (__tsan_acquire) __tsan_acquire(handle);
}
