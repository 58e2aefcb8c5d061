#pragma once
#include "../../Sources/CDecode/shim.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

typedef enum { PROBE_READ, PROBE_OPEN, PROBE_SOCKET, PROBE_FORK, PROBE_EXEC, PROBE_EXECUTABLE_MEMORY, PROBE_KILL, PROBE_UNLINK, PROBE_TRACE } CProbe_call;

static inline long probe_call(int call) {
    char *words[] = {"/bin/true", NULL};
    switch (call) {
    case PROBE_READ: return read(-1, words, 0) == -1 && errno == EBADF ? 0 : -1;
    case PROBE_OPEN: return open("/etc/hostname", O_RDONLY);
    case PROBE_SOCKET: return socket(AF_INET, SOCK_STREAM, 0);
    case PROBE_FORK: return syscall(__NR_clone, SIGCHLD, 0, 0, 0, 0);
    case PROBE_EXEC: return execve(words[0], words, words + 1);
    case PROBE_EXECUTABLE_MEMORY:
        return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0;
    case PROBE_KILL: return kill(getppid(), 0);
    case PROBE_UNLINK: return unlink("/nonexistent");
    default: return syscall(__NR_ptrace, 0, 0, 0, 0);
    }
}

/// What a process gets from a call: 0, or errno; 200 if it cannot be confined, 255 if the call killed it.
static inline int probe(int call, int isConfined) {
    pid_t child = fork();
    if (child == 0) {
        if (isConfined && kalij_confine() != 0) _exit(200);
        _exit(probe_call(call) < 0 ? errno : 0);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child) return 201;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}
