// peak PROGRAM FILE: runs the program with the file as its input and no output, and prints its exit status, its peak of resident
// memory in kilobytes, and milliseconds of CPU and of time. Not in Python: the peak of a process begins with that of its parent.
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

int main(int count, char **words) {
    if (count != 3) return 64;
    double begun = now();
    pid_t child = fork();
    if (child == 0) {
        char *arguments[] = {words[1], NULL}, *environment[] = {NULL};
        int input = open(words[2], O_RDONLY), output = open("/dev/null", O_WRONLY);
        if (input < 0 || dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0) _exit(66);
        execve(words[1], arguments, environment);
        _exit(69);
    }
    int status;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) < 0) return 71;
    int end = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    double cpu = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
    printf("%d %ld %.0f %.0f\n", end, usage.ru_maxrss, cpu, now() - begun);
    return 0;
}
