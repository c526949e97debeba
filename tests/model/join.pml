/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A CPU that joins and leaves under fire: <prof/cpus.h>, profiler/sample/cpus.h
 * and profiler/tick/cpus.c.
 *
 * The CPU starts, loads its tables, joins, leaves, and joins again. NMIs come
 * before any of its steps, from when it accepts them: from then on they come
 * to a handler that finds its state by the task register. That is nobody's
 * until the CPU has joined, and again when it has left. An NMI ends before the
 * CPU goes on; the drain, on another CPU, goes on meanwhile. Each memory access
 * is a step. The ring itself is in ring.pml.
 *
 * With IGNORED the source is `nmi`: its handler ignores NMIs until the drain has
 * found that the CPU has joined. With OWN_IDT the handler is the kernel's so
 * long, as the CPU has a table of its own, and its logical destination is that
 * of others: it accepts NMIs when it is taken, in its poll.
 *
 * What must hold, whatever the order of steps:
 *   - no NMI comes before there is a handler and a task register
 *   - none comes to the kernel's handler
 *   - each NMI between joining and leaving is in the ring or counted, once, and
 *     the drain sees it; no other is
 *   - no sample is older than the joining that the drain knows of
 *   - nothing is written to a ring that the drain has let go
 *
 * With BROKEN_ACCEPTS the CPU accepts NMIs before it has a handler; with
 * BROKEN_TIME it reads when it joins after its first samples; with BROKEN_KEY it
 * says that it has left while NMIs still find its state; with BROKEN_LAST the
 * drain reads head before it reads that the CPU has left; with BROKEN_FREE the
 * CPU joins again although the drain has not let it go; with BROKEN_IGNORED an
 * NMI before the CPU is taken goes on to the kernel's handler; with BROKEN_WAIT
 * the CPU accepts NMIs when it joins, with a table of its own, too: each must be
 * found out.
 */

#define ENTRIES 3
#define TIMES_JOINED 2
#define NMIS 4

#define FREE 0
#define JOINED 1
#define LEFT 2

#define NEXT(i) ((i + 1) % ENTRIES)

/* The CPU. */
bool has_tables = false, accepts = false, in_nmi = false, cpu_done = false;
bool is_somebody = false;   /* what NMIs find by the task register */
byte clock = 0;
byte state = FREE;          /* of its link */
byte joined_at = 0;

/* Written by the drain. */
bool taken = false;         /* and its gate is ours */

/* Its ring. */
byte entry[ENTRIES];
byte head = 0, tail = 0;

/* For the proof only. */
byte stored = 0, refused = 0;

inline begin()
{
#ifdef BROKEN_ACCEPTS
    accepts = true;         /* the LDR, before lidt and ltr */
#endif
    has_tables = true
}

inline join()
{
#ifndef BROKEN_FREE
    (state == FREE);        /* else PROF_ESTATE, and it tries again */
#endif
#ifdef BROKEN_TIME
    is_somebody = true;
    accepts = true;
    joined_at = clock;
#else
    joined_at = clock;
    is_somebody = true;
#if !defined(OWN_IDT) || defined(BROKEN_WAIT)
    accepts = true;         /* the source: nothing if it is the LDR of others */
#endif
#endif
    state = JOINED                                           /* (D) */
}

inline poll()
{
#ifdef OWN_IDT
    if
    :: taken -> accepts = true
    :: skip
    fi
#else
    skip
#endif
}

/* The source may be another's as well, which does not end. */
inline leave()
{
#ifdef OWN_IDT
    accepts = false;        /* the LDR is its own */
#else
    if
    :: accepts = false
    :: skip
    fi;
#endif
#ifdef BROKEN_KEY
    state = LEFT;
    is_somebody = false
#else
    is_somebody = false;
    state = LEFT                                             /* (D) */
#endif
}

proctype cpu() provided (!in_nmi)
{
    byte times = 0;

    begin();
    do
    :: times < TIMES_JOINED ->
        join();
        poll();
        leave();
        times++
    :: else -> break
    od;
    accepts = false;
    cpu_done = true
}

proctype nmi()
{
    byte count = 0, now;

end:
    do
    :: atomic { count < NMIS && accepts && !in_nmi -> in_nmi = true };
        assert(has_tables);
#ifdef OWN_IDT
        assert(taken);
#endif
        if
        :: !is_somebody -> skip
#ifdef IGNORED
        :: is_somebody && !taken ->
#ifdef BROKEN_IGNORED
            assert(false)                    /* it is the kernel's */
#else
            skip
#endif
#endif
        :: else ->
            atomic { clock++; now = clock };                 /* rdtsc */
            if
            :: NEXT(head) == tail -> refused++
            :: else ->
                entry[head] = now;
                assert(state != FREE || joined_at < now);
                atomic { head = NEXT(head); stored++ }       /* (A) */
            fi;
            now = 0
        fi;
        count++;
        in_nmi = false
    :: count == NMIS -> break
    od
}

inline read_ring()
{
    do
    :: at != until ->
        assert(entry[at] > last);
        assert(entry[at] > joined_at);
        last = entry[at];
        at = NEXT(at);
        seen++
    :: else -> break
    od;
    tail = at                                                /* (B) */
}

proctype drain()
{
    byte at = 0, until, last = 0, seen = 0, found;
    bool ending = false;

    do
    :: ending = cpu_done;
#ifdef BROKEN_LAST
       until = head;
       found = state;
#else
       found = state;                                        /* (D') */
       until = head;                                         /* (A') */
#endif
       if
       :: found == FREE -> skip
       :: else ->
           if
           :: found == JOINED -> taken = true
           :: else -> skip
           fi;
           read_ring();
           if
           :: found == LEFT ->
               taken = false;
               state = FREE
           :: else -> skip
           fi
       fi;
       until = 0;
       found = 0;
       if
       :: ending -> break
       :: else -> skip
       fi
    od;
    assert(state == FREE);
    assert(at == head);
    assert(seen == stored)
}

init
{
    atomic {
        run cpu();
        run nmi();
        run drain()
    }
}
