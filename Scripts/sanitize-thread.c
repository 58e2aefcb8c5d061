// Tells ThreadSanitizer of Swift's Mutex. The mutex's fast paths are compiled into our code, and instrumented. A
// waiting thread gets the mutex from the kernel, by way of the library, which is not instrumented: all earlier writes
// of the owner before would look like a race. Loaded with LD_PRELOAD in front of that library.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

// Missing in programs without instrumentation, which inherit the environment.
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

// Synchronization._MutexHandle._lockSlow(UInt32) and ._unlockSlow(). The handle begins with the number changed by the
// fast paths.
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

SWIFT void lock(uint32_t thread, SELF void *handle) __asm__(LOCK);
SWIFT void unlock(SELF void *handle) __asm__(UNLOCK);

SWIFT void lock(uint32_t thread, SELF void *handle) {
    typedef SWIFT void (*Lock)(uint32_t, SELF void *);
    ((Lock)dlsym(RTLD_NEXT, LOCK))(thread, handle);
    if (__tsan_acquire) __tsan_acquire(handle);
}

SWIFT void unlock(SELF void *handle) {
    typedef SWIFT void (*Unlock)(SELF void *);
    if (__tsan_release) __tsan_release(handle);
    ((Unlock)dlsym(RTLD_NEXT, UNLOCK))(handle);
}
