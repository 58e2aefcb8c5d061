/*
 * The mailbox, the doorbell, and how the right to drive is handed over.
 *
 * Two `wake` processes, each started by a push, and a `main` started by the user, at any moments. One fault happens to
 * one of them, at any moment: it is killed, or frozen and perhaps thawed again. A process that is only slow may be taken
 * for a frozen one, at any moment, once.
 *
 * What is read from the stream is not here: a push counts as served once a driver has taken its row, or was started by
 * it; a driver reads the stream to its end after that, and if it dies before, the server pushes again.
 *
 * Properties (README.md says which change of the model breaks which):
 *   3. A request to stop ends with the lock free, or with the fence in the hands of who asked.
 *   4. No push is left unserved.
 */
#define N 3                  /* process 0 is main, 1 and 2 are wake */
#define NOBODY 9

/* The account database and the lock file. */
byte owner = NOBODY;         /* the row: who raised the fence last */
bool held[N];                /* who holds the lock on the byte of its own fence */
/* The socket: who listens at its name, and what the kernel knows of connections to it. */
byte listener = NOBODY;
byte caller[N] = NOBODY;     /* to whom a process has a connection open */
bool rung[N];                /* a connection to this process was closed, and it has not looked since */
/* The mailbox. */
byte announced = NOBODY;     /* the row: who receives, */
byte number = 0;             /* and the number of its fence, which is never given twice */
bool push[N];                /* the row of a push that was handed over, and not taken yet */
bool stop[N];                /* the row of a request to stop, to this process */
/* What the properties speak of. */
bool owed[N];                /* the push that started this process has to be served */
bool handedOver[N];          /* its row is committed: whoever drives knows of it */
byte asked = NOBODY;         /* whom main has asked to stop */
bool alive[N] = true;
bool frozen[N];
bool hasty = false;          /* one was given up that was only slow */

#define RUNS(i) (alive[i] && !frozen[i])
#define GIVES_UP(i) (RUNS(i) && owner != NOBODY && owner != i && held[owner] && (frozen[owner] || !hasty))

#ifdef MUTATION_TRUSTS_CALLERS
#define HANGS(j, i) false
#else
#define HANGS(j, i) (caller[j] == i && frozen[j] && push[j])
#endif

/* Closing a connection rings, however it closes. */
inline hangUp(i) {
    if
    :: caller[i] != NOBODY -> rung[caller[i]] = true; caller[i] = NOBODY
    :: else -> skip
    fi
}

/* What the system does for a process that is gone. */
inline gone(i) {
    hangUp(i);
    if :: listener == i -> listener = NOBODY :: else -> skip fi;
    held[i] = false; alive[i] = false; frozen[i] = false; rung[i] = false; stop[i] = false
}

inline serve(i) {
    if :: push[i] -> push[i] = false; owed[i] = false :: else -> skip fi
}

proctype Process(byte me) {
    byte whom = NOBODY, tried = NOBODY, its = 0;

    if
    :: me != 0 -> atomic { RUNS(me) -> owed[me] = true }
    :: else -> skip
    fi;

start:
    if
    /* Nobody drives: the owner has let go, or is dead. */
    :: atomic { RUNS(me) && (owner == NOBODY || !held[owner]) -> owner = me; held[me] = true; goto drive }
    /* Somebody drives and receives. */
    :: atomic { RUNS(me) && announced != NOBODY && announced != tried && held[announced] && listener != NOBODY ->
            whom = announced; its = number }
    /* Somebody drives and does not answer: it is given up. */
#ifndef MUTATION_NEVER_RAISES
    :: atomic { GIVES_UP(me) -> hasty = hasty || !frozen[owner]; owner = me; held[me] = true; goto drive }
#endif
    fi;

    /* It has read who receives, and connects to whoever listens by now. */
#ifndef MUTATION_COMMITS_BEFORE_RINGING
    if
    :: atomic { RUNS(me) && listener != NOBODY -> caller[me] = listener }
    :: atomic { RUNS(me) && listener == NOBODY -> goto start }
    fi;
#endif
    /* The transaction: a row for the one that was to receive it, if it still is. */
    atomic {
        RUNS(me);
        if
#ifndef MUTATION_ANY_RECEIVER
        :: announced != whom || number != its -> hangUp(me); goto start
#endif
        :: else -> skip
        fi;
        tried = whom;
        if
        :: me == 0 -> stop[whom] = true; asked = whom
        :: me != 0 -> push[me] = true; handedOver[me] = true
        fi
    };
#ifdef MUTATION_COMMITS_BEFORE_RINGING
    if
    :: atomic { RUNS(me) && listener != NOBODY -> caller[me] = listener }
    :: atomic { RUNS(me) && listener == NOBODY }
    fi;
#endif
    atomic { RUNS(me) -> hangUp(me) };
    /* A wake waits until its row is taken, or gives up; main until the lock is free. */
    if
    :: atomic { RUNS(me) && me == 0 -> goto start }
    :: atomic { RUNS(me) && me != 0 && !push[me] -> goto ended }
    :: atomic { RUNS(me) && me != 0 && push[me] && (owner == NOBODY || !held[owner] || announced != whom || number != its) ->
            tried = NOBODY; goto start }
#ifndef MUTATION_NEVER_RAISES
    :: atomic { me != 0 && push[me] && GIVES_UP(me) ->
            hasty = hasty || !frozen[owner]; owner = me; held[me] = true; goto drive }
#endif
    fi;

drive:
    /* It listens in place of whoever did, says that it receives, and looks: in this order. */
    atomic {
        RUNS(me);
        if
        :: owner == me -> listener = me
        :: else -> goto stale
        fi
    };
    atomic {
        RUNS(me);
        if
        :: owner == me -> announced = me; number++
        :: else -> goto stale
        fi
    };
    /* What started it is served by its driving. */
    atomic { RUNS(me) -> owed[me] = false; rung[me] = true };
driving:
    if
    :: atomic { RUNS(me) && owner != me -> goto stale }
    /* It was rung; or somebody has been connected for a second and does not hang up. */
    :: atomic { RUNS(me) && owner == me && (rung[me] || HANGS(0, me) || HANGS(1, me) || HANGS(2, me)) ->
            rung[me] = false;
            if
            :: announced == me -> serve(0); serve(1); serve(2)
            :: else -> skip
            fi;
            if :: stop[me] -> goto ending :: else -> skip fi
        };
        goto driving
    /* A wake run has caught up, or its budget is at its end. */
    :: atomic { RUNS(me) && owner == me && me != 0 -> goto ending }
    fi;

ending:
    /* The last look, and that it receives no longer, are one transaction. */
#ifdef MUTATION_LOOKS_TOO_EARLY
    atomic { RUNS(me) -> if :: push[1] || push[2] -> rung[me] = true; goto driving :: else -> skip fi };
    atomic { RUNS(me) -> if :: announced == me -> announced = NOBODY :: else -> skip fi };
#else
    atomic {
        RUNS(me);
        if
        :: announced == me && (push[1] || push[2]) -> serve(1); serve(2); rung[me] = true
        :: announced == me && !push[1] && !push[2] -> announced = NOBODY
        :: else -> skip
        fi;
        if :: announced == me -> goto driving :: else -> skip fi
    };
#endif
    /* It lets go: the fence says so, the lock is free. */
    goto leaving;
stale:
    /* Another has raised the fence: nothing that was begun is finished. Main, and who has a push to serve, begin anew. */
    atomic {
        RUNS(me);
#ifndef MUTATION_STALE_ENDS
        if
        :: owed[me] || me == 0 ->
            if :: listener == me -> listener = NOBODY :: else -> skip fi;
            held[me] = false; tried = NOBODY;
            goto start
        :: else -> skip
        fi
#endif
    };
leaving:
    atomic { RUNS(me) -> if :: listener == me -> listener = NOBODY :: else -> skip fi };
ended:
    atomic { RUNS(me) -> gone(me); whom = NOBODY; tried = NOBODY; its = 0 }
}

/* One fault, at any moment. */
proctype Fault() {
    byte i;
    select(i : 0 .. 2);
    if
    :: atomic { alive[i] -> gone(i); i = 0 }
    :: atomic { alive[i] -> frozen[i] = true };
        if
        :: atomic { frozen[i] = false; i = 0 }
        :: i = 0
        fi
    :: skip
    fi
}

init {
    atomic {
        run Process(0); run Process(1);
#ifndef ONE_WAKE
        run Process(2);
#endif
        run Fault()
    }
}

/* A push is served, unless the only one that knows of it can do nothing. */
#define DOWN(i) (!RUNS(i) && !handedOver[i])
ltl no_push_left { ([]<> (!owed[1] || DOWN(1))) && ([]<> (!owed[2] || DOWN(2))) }
ltl stop_ends { [] (asked != NOBODY -> <> (!held[1] || owner != 1) && <> (!held[2] || owner != 2)) }
