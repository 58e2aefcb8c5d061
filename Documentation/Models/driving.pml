/*
 * Who drives, and what of it reaches the server: the fence, the step, the session.
 *
 * A frozen process is one that takes no turn for a while, a killed one takes none any more, and a process that is
 * only slow looks like a frozen one to the others: so a driver may raise the fence over a living one at any moment, and
 * every order of turns is looked at. A driver that is killed within a transaction loses SQLite's write lock and what it
 * has not committed.
 *
 * Properties (README.md says which change of the model breaks which):
 *   1. No step of a stale owner commits.
 *   2. A stale owner writes only rows of its own fence, and nothing that it writes is handled twice.
 */
#ifndef DRIVERS
#define DRIVERS 2
#endif
#ifndef ROWS
#define ROWS 3
#endif
/* Whether a driver whose session another has taken connects once more. */
#ifndef AGAIN
#define AGAIN 1
#endif
#define RESUME 0

byte fence = 0;              /* the row: the number of the last owner */
byte writer = 0;             /* who holds SQLite's write lock: a process, 0 for nobody */
bool killed[DRIVERS + 3];    /* by process: killed within its transaction */

byte rows = 0;               /* rows of the queue that are committed; they are numbered from 1 */
byte rowFence[ROWS + 1];     /* the fence under which each was committed */
byte acknowledged = 0;       /* rows that the database knows to be handled */

byte session = 0;            /* the server: whose connection has the session, by fence number */
byte handled = 0;            /* the server: how many stanzas of the session it has handled */
chan wire[DRIVERS + 1] = [2] of { byte };     /* what a driver has written and the server not read */
chan answer[DRIVERS + 1] = [1] of { byte };   /* <resumed h='...'/> */

/* BEGIN IMMEDIATE. A taker that waits for too long kills who holds the lock; an ordinary writer waits. */
inline begin() {
    atomic { killed[_pid] || writer == 0; if :: killed[_pid] -> goto ended :: else -> writer = _pid fi }
}

inline beginOrKill() {
    atomic {
        if
        :: writer == 0 -> writer = _pid
        :: writer != 0 -> killed[writer] = true; writer = _pid
        fi
    }
}

/* What a step does first in its transaction; false: it rolls back and ends. */
inline checkFence() {
#ifdef MUTATION_CHECK_BEFORE_BEGIN
    skip
#else
    if
    :: fence == me -> skip
    :: else -> writer = 0; goto ended
    fi
#endif
}

inline checkBefore() {
#ifdef MUTATION_CHECK_BEFORE_BEGIN
    if
    :: fence == me -> skip
    :: else -> goto ended
    fi
#else
    skip
#endif
}

proctype Driver() {
    byte me, h, limit, written;
    bool online = false, asked = false, again = false;

    /* Taking over. */
    beginOrKill();
    atomic {
        if
        :: killed[_pid] -> goto ended
        :: else -> fence++; me = fence; writer = 0
        fi
    }

    do
    /* It connects and asks for the session, fence or no fence: it may have been frozen since it looked. */
    :: !asked -> atomic {
            wire[me]!RESUME; asked = true;
#ifdef MUTATION_WRITES_BEFORE_RESUMED
            online = true; written = acknowledged
#endif
        }

    /* <resumed/>: what the server has handled leaves the queue, in a step. */
    :: atomic { answer[me]?h -> skip };
        checkBefore();
        begin();
        atomic {
            if :: killed[_pid] -> goto ended :: else -> skip fi;
            checkFence();
            assert(fence == me);                                        /* property 1 */
            assert(h <= rows);
            acknowledged = h; writer = 0;
#ifndef MUTATION_WRITES_BEFORE_RESUMED
            written = h; limit = h; online = true
#endif
        }

    /* A step that queues a stanza. */
    :: online && rows < ROWS ->
        checkBefore();
        begin();
        atomic {
            if :: killed[_pid] -> goto ended :: else -> skip fi;
            checkFence();
            assert(fence == me);                                        /* property 1 */
            if
            :: rows < ROWS -> rows++; rowFence[rows] = me
            :: else -> skip
            fi;
            writer = 0
        }

    /* It looks into the queue: what it finds was committed before the fence went to another. */
    :: atomic {
            online && limit < rows ->
#ifndef MUTATION_READS_UNFENCED
            if
            :: fence == me -> limit = rows
            :: else -> goto ended
            fi
#else
            limit = rows
#endif
        }

    /* It writes what it has found, a row at a time. */
    :: atomic {
            online && written < limit && nfull(wire[me]) ->
            written++;
            assert(rowFence[written] <= me);                            /* property 2 */
            wire[me]!written
        }

    /* Another connection has the session: this one has ended. */
    :: atomic { online && session != me && empty(wire[me]) && AGAIN && !again -> online = false; asked = false; again = true }
    od;
ended:
    atomic { online = false; asked = false; again = false; h = 0; limit = 0; written = 0 }
}

/* Accepts a message without driving. */
proctype Share() {
    begin();
    atomic {
        if
        :: rows < ROWS -> rows++; rowFence[rows] = fence
        :: else -> skip
        fi;
        writer = 0
    }
ended:
    skip
}

/* XEP-0198: the session goes to who asks for it; what others still write reaches nobody. */
proctype Server() {
    byte c, what;
end:
    do
    :: atomic {
            if
            :: nempty(wire[1]) -> c = 1
            :: nempty(wire[2]) -> c = 2
#if DRIVERS > 2
            :: nempty(wire[3]) -> c = 3
#endif
            fi;
            wire[c]?what;
            if
            :: what == RESUME -> session = c; answer[c]!handled
            :: what != RESUME && session == c ->
                assert(what == handled + 1);                            /* property 2: none twice, none left out */
                handled++
            :: what != RESUME && session != c -> skip
            fi;
            c = 0; what = 0
        }
    od
}

init {
    atomic {
        run Server(); run Share(); run Driver(); run Driver();
#if DRIVERS > 2
        run Driver()
#endif
    }
}
