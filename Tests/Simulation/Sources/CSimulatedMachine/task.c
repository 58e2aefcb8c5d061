#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#include "machine.h"

// A process that is frozen within a call stands still on a thread of its own, with all that it holds. Whoever goes on waits
// for the other: so one thread of all runs at a time.

struct machine_task {
    pthread_t thread;
    sem_t go, back;
    void (*body)(void *);
    void *context;
    int is_finished;
};

static __thread struct machine_task *current;

static void *run(void *argument) {
    struct machine_task *task = argument;
    current = task;
    task->body(task->context);
    task->is_finished = 1;
    sem_post(&task->back);
    return NULL;
}

static void wait_for(sem_t *semaphore) {
    while (sem_wait(semaphore) != 0) continue;
}

static struct machine_task *end(struct machine_task *task) {
    pthread_join(task->thread, NULL);
    sem_destroy(&task->go);
    sem_destroy(&task->back);
    free(task);
    return NULL;
}

struct machine_task *machine_task_start(void (*body)(void *), void *context) {
    struct machine_task *task = calloc(1, sizeof *task);
    task->body = body;
    task->context = context;
    sem_init(&task->go, 0, 0);
    sem_init(&task->back, 0, 0);
    if (pthread_create(&task->thread, NULL, run, task) != 0) abort();
    wait_for(&task->back);
    return task->is_finished ? end(task) : task;
}

void machine_task_finish(struct machine_task *task) {
    do {
        sem_post(&task->go);
        wait_for(&task->back);
    } while (!task->is_finished);
    end(task);
}

void task_park(void) {
    struct machine_task *task = current;
    if (!task) return;
    int process = machine.running;
    machine.running = 0;
    sem_post(&task->back);
    wait_for(&task->go);
    machine.running = process;
}
