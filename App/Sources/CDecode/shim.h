#pragma once
#include <errno.h>
#include <gdk-pixbuf/gdk-pixbuf.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define KALIJ_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define KALIJ_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the filter of system calls is not written for this architecture"
#endif

#define KALIJ_IF(call, then, else) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, then, else)
#define KALIJ_RETURN(action) BPF_STMT(BPF_RET | BPF_K, action)
#define KALIJ_ALLOW(call) KALIJ_IF(call, 0, 1), KALIJ_RETURN(SECCOMP_RET_ALLOW)
#define KALIJ_LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))

/// Confines this thread, and all that it starts, to memory and to its open descriptors (seccomp): each call that is not listed fails with
/// EPERM, and no memory becomes executable.
/// - Returns: 0, or -1 with errno.
static inline int kalij_confine(void) {
    struct sock_filter rules[] = {
        KALIJ_LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, KALIJ_ARCHITECTURE, 1, 0),
        KALIJ_RETURN(SECCOMP_RET_KILL_PROCESS),
        KALIJ_LOAD(nr),
        KALIJ_ALLOW(read), KALIJ_ALLOW(write), KALIJ_ALLOW(close), KALIJ_ALLOW(brk), KALIJ_ALLOW(munmap),
        KALIJ_ALLOW(mremap), KALIJ_ALLOW(madvise), KALIJ_ALLOW(futex), KALIJ_ALLOW(clock_gettime),
        KALIJ_ALLOW(getrandom), KALIJ_ALLOW(sched_yield), KALIJ_ALLOW(rt_sigprocmask), KALIJ_ALLOW(rt_sigreturn),
        KALIJ_ALLOW(exit), KALIJ_ALLOW(exit_group),
        KALIJ_IF(mmap, 2, 0), KALIJ_IF(mprotect, 1, 0), KALIJ_RETURN(SECCOMP_RET_ERRNO | EPERM),
        KALIJ_LOAD(args[2]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1), KALIJ_RETURN(SECCOMP_RET_ERRNO | EPERM),
        KALIJ_RETURN(SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {.len = sizeof rules / sizeof rules[0], .filter = rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}

/// Closes the descriptors that the process has inherited, except the standard ones.
static inline int kalij_close_others(void) { return (int)syscall(__NR_close_range, 3, ~0U, 0); }

/// Called with the size of a picture, before memory for it is allocated.
static inline void kalij_on_size(GdkPixbufLoader *loader, void (*handle)(GdkPixbufLoader *, int, int, void *)) {
    g_signal_connect(loader, "size-prepared", G_CALLBACK(handle), NULL);
}
