/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The table of objects and the ring: profiler/trace/objects.h. A thread, an
 * interrupt in the middle of whatever it does, and another one (an NMI) in the
 * middle of that record events, all of which are held; the thread also drains.
 * See trace.pml for how the steps are taken, and for what is proved of the ring
 * itself.
 *
 * What must hold, whatever the order of steps:
 *   - the table takes the records in the order of their positions, each once
 *   - none is overwritten before the table has it, or it is set aside
 *   - none is left out, and at the end the table has all
 *
 * That holds while interrupts do not go around the ring in the middle of one
 * event, and do not set aside more than there is room for, neither of which
 * they can here.
 *
 * A slot's `at` is a position * 4, and 0, BUSY or HELD.
 *
 * With BROKEN_ASIDE an interrupt overwrites what it finds held, with
 * BROKEN_TURN it takes it while another is at it, with BROKEN_AGAIN what is set
 * aside at the last moment is forgotten, with BROKEN_MEANWHILE an event is left
 * out whose slot an interrupt has released: each must be found out. So must
 * OTHER_CPU, with which the drain runs on another CPU: it passes a record whose
 * position is taken and which is still being written, and that is left out. A
 * ring is followed on its own CPU.
 */

#define SLOTS 4
#define BUSY 1
#define HELD 3
#define AHEAD 1
#define ASIDE_MAX 3
#define THREAD_EVENTS 1
#define IRQ_EVENTS 2
#define NMI_EVENTS 1
#define EVENTS 16

short at[SLOTS];
byte head = SLOTS + 1; /* it begins full, with records that are all held */
byte level = 0; /* 0 the thread runs, 1 the interrupt, 2 the NMI */
byte tail = 1;
bool busy = false;
byte aside = 0;
byte parts[ASIDE_MAX];
byte newest = 0;        /* position last taken */
bool taken[EVENTS];
byte ended = 0;         /* interrupts */

inline take(me, p)
{
    atomic {
        assert(p > newest);
        newest = p;
        taken[p] = true
    }
}

/* Takes what comes before (until). */
inline take_until(me, until, seen, i, found)
{
    do
    :: tail < until ->
        seen = at[tail % SLOTS];
        found = false;
        if
        :: seen == tail * 4 + HELD ->
            found = (at[tail % SLOTS] == seen); /* now it is copied */
            if
            :: found ->
                take(me, tail);
                atomic {
                    if
                    :: at[tail % SLOTS] == seen -> at[tail % SLOTS] = tail * 4
                    :: else -> skip
                    fi
                }
            :: else -> skip
            fi
        :: else -> skip
        fi;
        i = 0;
        do
        :: !found && i < aside && i < ASIDE_MAX ->
            if
            :: parts[i] == tail -> take(me, tail); found = true
            :: else -> i++
            fi
        :: else -> break
        od;
        tail++
    :: else -> break
    od
}

inline end_of(until, n, i)
{
    i = 0;
    do
    :: i < n && i < ASIDE_MAX ->
        if
        :: parts[i] >= until -> until = parts[i] + 1
        :: else -> skip
        fi;
        i++
    :: else -> break
    od
}

inline go_on(me, until, seen, i, found, n)
{
    atomic { found = busy; busy = true };
#ifdef BROKEN_TURN
    found = false;
#endif
    if
    :: found -> skip
    :: else ->
        do
        :: true ->
            n = aside;
            end_of(until, n, i);
            take_until(me, until, seen, i, found);
            atomic {
#ifdef BROKEN_AGAIN
                aside = 0;
                break
#else
                if
                :: aside == n -> aside = 0; break
                :: else -> skip
                fi
#endif
            }
        od;
        busy = false
    fi
}

/* Makes that slot (s), which was seen to be held, no longer is. */
inline release(me)
{
    held = seen;
    until = (held >> 2) + AHEAD;
    go_on(me, until, seen, i, found, n);
#ifndef BROKEN_ASIDE
    if
    :: at[s] == held ->
        atomic { n = aside; aside++ }; /* xadd */
        parts[n] = at[s] >> 2
    :: else -> skip
    fi;
#endif
    atomic { /* cmpxchg */
        if
        :: at[s] == held -> at[s] = at[s] & ~HELD
        :: else -> skip
        fi
    }
}

/* One event at level (me). */
inline record(me)
{
    atomic { p = head; head++ }; /* xadd */
    s = p % SLOTS;
    ok = true;
    atomic { found = at[s] & 1; at[s] = at[s] | 1 }; /* bts */
    if
    :: !found -> skip
    :: else ->
        seen = at[s];
        if
#ifndef BROKEN_MEANWHILE
        :: (seen & 1) == 0 -> skip /* an interrupt has released it */
#endif
        :: (seen & HELD) == HELD -> release(me)
        :: else -> ok = false      /* (B) */
        fi;
        atomic { found = at[s] & 1; at[s] = at[s] | 1 };
        ok = ok && !found
    fi;
    assert(ok);
    at[s] = p * 4 + HELD
}

#define LOCALS                                                                 \
    byte p, s, until, i, n;                                                    \
    short seen, held;                                                          \
    bool ok, found

proctype thread() provided (level == 0)
{
    LOCALS;
    byte count = 0;

    do
    :: count < THREAD_EVENTS ->
#ifndef OTHER_CPU
        if
        :: true -> skip
        :: true -> /* the drain */
            until = head;
            go_on(0, until, seen, i, found, n)
        fi;
#endif
        record(0);
        count++
    :: else -> break
    od;
    /* the last drain, when nothing else runs any more */
#ifdef OTHER_CPU
    (ended == 3);
#else
    (ended == 2);
#endif
    until = head;
    go_on(0, until, seen, i, found, n);
    p = 1;
    do
    :: p < head -> assert(taken[p]); p++
    :: else -> break
    od
}

/* Each begins where nothing of its own level or above runs. */
proctype interrupt(byte me; byte events) provided (level < _pid)
{
    LOCALS;
    byte count = 0, before;

    do
    :: count < events ->
        atomic { before = level; level = me };
        do
        :: count < events ->
            record(me);
            count++
        :: count > 0 -> break
        od;
        level = before
    :: else -> break
    od;
    ended++
}

#ifdef OTHER_CPU
proctype drain()
{
    byte until, i, n;
    short seen;
    bool found;

    until = head;
    go_on(3, until, seen, i, found, n);
    ended++
}
#endif

init
{
    atomic {
        at[1] = 1 * 4 + HELD;
        at[2] = 2 * 4 + HELD;
        at[3] = 3 * 4 + HELD;
        at[0] = 4 * 4 + HELD;
        run thread();
        run interrupt(1, IRQ_EVENTS);
        run interrupt(2, NMI_EVENTS);
#ifdef OTHER_CPU
        run drain()
#endif
    }
}
