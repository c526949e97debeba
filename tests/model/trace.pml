/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The ring of profiler/trace/recorder.h: a thread, an interrupt in the middle
 * of whatever it does, and another interrupt (an NMI) in the middle of that.
 *
 * All three record events; the thread also reads them, between its own events;
 * and a panic reads them wherever it comes. Each memory access is a step. An
 * interrupt may begin before any step of what it interrupts and ends before
 * that goes on: `level` says who may take steps.
 *
 * What must hold, whatever the order of steps:
 *   - what is read at a position was written for that position, and is whole
 *   - each position is read or lost, once, and in order
 *   - the thread alone loses nothing that the ring has room for
 *
 * Positions are numbers here, 1 and up; a slot's `at` is the position, or BUSY.
 * An event is two words, both the position.
 *
 * With BROKEN_BUSY a producer writes a slot that another is writing, with
 * BROKEN_EARLY it stores the position before the words, with BROKEN_AGAIN the
 * reader does not look again after it has copied: each must be found out.
 */

#define SLOTS 2
#define BUSY 255
#define THREAD_EVENTS 2
#define IRQ_EVENTS 2
#define NMI_EVENTS 1

byte first[SLOTS], second[SLOTS], at[SLOTS];
byte head = 1;
byte level = 0; /* 0 the thread runs, 1 the interrupt, 2 the NMI */
byte tail = 1;  /* the thread's reader */
byte reads = 0, losses = 0;
bool panicked = false;

/* One event, by whom runs at (me). */
inline record(me, p, s, seen)
{
    atomic { level == me -> p = head; head++ }; /* xadd */
    s = p % SLOTS;
    atomic { level == me -> seen = at[s] };
    if
#ifndef BROKEN_BUSY
    :: seen == BUSY -> skip                     /* (B) */
    :: else ->
#else
    :: true ->
#endif
        atomic { level == me -> at[s] = BUSY };
#ifdef BROKEN_EARLY
        atomic { level == me -> at[s] = p };
#endif
        atomic { level == me -> first[s] = p };
        atomic { level == me -> second[s] = p };
#ifndef BROKEN_EARLY
        atomic { level == me -> at[s] = p }; /* (A) */
#endif
    fi
}

/* Reads position (p), while (may) holds: its words must be its own. */
inline read_one(may, p, s, seen, a, b)
{
    s = p % SLOTS;
    atomic { may -> seen = at[s] };
    if
    :: seen != p -> losses++
    :: else ->
        atomic { may -> a = first[s] };
        atomic { may -> b = second[s] };
#ifndef BROKEN_AGAIN
        atomic { may -> seen = at[s] };         /* (C) */
#endif
        if
        :: seen != p -> losses++
        :: else ->
            assert(a == p && b == p);
            reads++
        fi
    fi
}

proctype thread()
{
    byte count = 0, p, s, seen, a, b, until;

    {
    do
    :: count < THREAD_EVENTS ->
        record(0, p, s, seen);
        count++;
        if
        :: true -> skip
        :: true -> /* the drain */
            atomic { level == 0 -> until = head };
            do
            :: tail < until ->
                read_one(level == 0, tail, s, seen, a, b);
                tail++
            :: else -> break
            od
        fi
    :: else -> break
    od
    } unless { panicked }
}

/* Each begins where nothing of its own level or above runs. */
proctype interrupt(byte me; byte events)
{
    byte count = 0, p, s, seen, before;

    {
    do
    :: count < events ->
        atomic { level < me -> before = level; level = me };
        do
        :: count < events ->
            record(me, p, s, seen);
            count++
        :: count > 0 -> break
        od;
        atomic { level == me -> level = before }
    :: else -> break
    od
    } unless { panicked }
}

/* Nothing else runs from here on. Reads everything once more. */
proctype panic()
{
    byte p = 1, s;

    d_step {
        panicked = true;
        reads = 0;
        losses = 0;
        do
        :: p < head ->
            s = p % SLOTS;
            if
            :: at[s] == p ->
                assert(first[s] == p && second[s] == p);
                reads++
            :: else -> losses++
            fi;
            p++
        :: else -> break
        od;
        assert(reads + losses == head - 1);
        assert(reads <= SLOTS)
    }
}

init
{
    atomic {
        at[0] = 0;
        at[1] = 0;
        run thread();
        run interrupt(1, IRQ_EVENTS);
        run interrupt(2, NMI_EVENTS);
        run panic()
    }
}
