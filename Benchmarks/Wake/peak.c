/* Runs a program and says on standard error how many kilobytes of memory it had at most. The system counts what the parent
 * of an exec had, so this is a small one.
 *
 * usage: peak PROGRAM ARGUMENT... */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **words) {
    int status;
    struct rusage usage;
    if (count < 2) return 64;
    pid_t pid = fork();
    if (pid == 0) execv(words[1], words + 1), _exit(69);
    if (pid < 0 || wait4(pid, &status, 0, &usage) != pid) return 71;
    fprintf(stderr, "%ld\n", usage.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
