/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Another CPU that begins and ends to sample by its own local APIC's timer,
 * while the first one starts and stops sampling: profiler/tick/source_lapic.c.
 *
 * Only the CPU itself can program its timer, so it has a state that it alone
 * writes, and the first CPU a word that says whether it may run. It looks at
 * that word in each turn of its event loop and at each tick. It joins, leaves,
 * which may leave a tick pending, and joins again. The first CPU takes the gate
 * of the timer's interrupt when it starts. When it stops it waits for a while
 * only, and gives the gate back then, or in a later drain. A tick comes at any
 * step while interrupts are on, and ends before the CPU goes on. Each memory
 * access is a step.
 *
 * What must hold, whatever the order of steps:
 *   - the timer is never armed where the gate is not ours, and no tick of a
 *     timer of our own comes to another gate
 *   - in the end the timer is disarmed, its state is OFF, and the gate is given
 *     back
 *
 * With SHARED the timer is also the kernel's, which can take a tick too many.
 * With OWN_IDT the CPU has an IDT of its own, with a gate in it that is ours
 * only while the CPU is sampled.
 *
 * With BROKEN_ASK the CPU asks whether it may run before it says that it does;
 * with BROKEN_STOP the first CPU looks at the state before it withdraws its
 * word; with BROKEN_GIVE it gives the gate back though the CPU still runs; with
 * BROKEN_LEAVE the CPU forgets a tick that is pending when it leaves; with
 * BROKEN_PENDING it looks for one before it disarms its timer; with BROKEN_FREE
 * the drain lets it go before that tick has come; with BROKEN_WORD the drain
 * lets a CPU go that may still run; with BROKEN_LEFT the gate of a CPU that has
 * left is forgotten; with BROKEN_TABLE that of one that joins while the first
 * CPU starts: each must be found out.
 */

#define TIMES_JOINED 2
#define STARTS 2

#define FREE 0
#define JOINED 1
#define LEFT 2

#define OFF 0
#define RUNS 1              /* SHARED or OWN */
#define LEAVING 2

#ifdef BROKEN_FREE
#define MAY_GO true
#else
#define MAY_GO (state != LEAVING)
#endif

/* The CPU. */
byte state = OFF;
byte link = FREE;
bool is_somebody = false;   /* what a tick finds by the task register */
bool armed = false, pending = false;
bool interrupts = false, in_tick = false, cpu_done = false;

/* The first one. */
bool may_run = false;
bool running = false, keeps_gate = false, taken = false, first_done = false;
bool gate = false;          /* that the CPU's ticks come to is ours */

inline arm()
{
    atomic { assert(gate); armed = true }
}

inline look()
{
    interrupts = false;
    if
    :: state == OFF && may_run ->
#ifdef BROKEN_ASK
        if
        :: may_run -> state = RUNS; arm()
        :: else -> skip
        fi
#else
        state = RUNS;
        if
        :: may_run -> arm()                                  /* (A) */
        :: else -> state = OFF
        fi
#endif
#ifdef SHARED
    :: state == RUNS && !may_run ->
        armed = false;
        state = OFF
#endif
    :: else -> skip
    fi;
    interrupts = true
}

inline join()
{
    (link == FREE);
#ifdef OWN_IDT
    gate = false;           /* a table that nobody has changed */
#endif
    is_somebody = true;
    link = JOINED
}

inline leave()
{
    interrupts = false;
    if
    :: state == RUNS ->
#ifdef SHARED
        armed = false;
        state = OFF
#else
#ifdef BROKEN_PENDING
        found = pending;
        armed = false;
#else
        armed = false;
        found = pending;
#endif
#ifdef BROKEN_LEAVE
        found = false;
#endif
        state = (found -> LEAVING : OFF);
        found = false
#endif
    :: else -> skip
    fi;
    is_somebody = false;
    link = LEFT;
    interrupts = true
}

proctype cpu() provided (!in_tick)
{
    byte times = 0;
    bool found = false;

    do
    :: times < TIMES_JOINED ->
        join();
        interrupts = true;
        do
        :: look()
        :: break
        od;
        leave();
        times++
    :: else -> break
    od;
    cpu_done = true
}

proctype ticks()
{
end:
    do
    :: atomic { armed -> armed = false; pending = true }
    :: atomic {
           pending && interrupts && !in_tick ->
           pending = false;
#ifdef SHARED
           in_tick = gate
#else
           assert(gate);
           in_tick = true
#endif
       };
       if
       :: in_tick && is_somebody && state == RUNS ->
           if
           :: may_run -> arm()
           :: else -> armed = false; state = OFF
           fi
       :: in_tick && state == LEAVING -> state = OFF
       :: else -> skip
       fi;
       in_tick = false
    od
}

/* Gives the gate back, if the CPU has ended. */
inline leave_gate()
{
#ifdef BROKEN_GIVE
    keeps_gate = false;
#else
    keeps_gate = (state != OFF);
#endif
    if
    :: keeps_gate -> skip
#ifdef OWN_IDT
#ifdef BROKEN_LEFT
    :: !keeps_gate && link != JOINED -> skip
#else
    :: !keeps_gate && link == FREE -> skip
#endif
#endif
    :: else -> gate = false
    fi
}

/* The gate first: the CPU may have joined since the others' were taken. */
inline let_run()
{
#ifndef BROKEN_TABLE
    gate = true;
#endif
    may_run = true
}

inline drain()
{
    if
    :: !running && keeps_gate -> leave_gate()
    :: else -> skip
    fi;
    if
    :: link == JOINED && !taken ->
        taken = true;
        if
        :: running -> let_run()
        :: else -> skip
        fi
    :: link == LEFT && MAY_GO ->
#ifdef BROKEN_WORD
        if
        :: taken -> may_run = false
        :: else -> skip
        fi;
#else
        may_run = false;
#endif
#ifdef OWN_IDT
        if
        :: running || keeps_gate -> gate = false
        :: else -> skip
        fi;
#endif
        taken = false;
        link = FREE
    :: else -> skip
    fi
}

inline start()
{
#ifdef OWN_IDT
    if
    :: link == JOINED -> gate = true
    :: else -> skip
    fi;
#else
    gate = true;
#endif
    running = true;
    if
    :: link == JOINED -> let_run()
    :: else -> skip
    fi
}

inline stop()
{
    running = false;
#ifdef BROKEN_STOP
    seen = (state != OFF);
    may_run = false;
    if
    :: seen -> keeps_gate = true
    :: else -> keeps_gate = false; gate = false
    fi
#else
    may_run = false;                                         /* (B) */
    if
    :: state == OFF         /* it has waited */
    :: skip                 /* or has waited long enough */
    fi;
    leave_gate()                                             /* (B) */
#endif
}

proctype first()
{
    byte starts = 0;
    bool seen = false;

    do
    :: starts < STARTS ->
        drain();
        start();
        do
        :: drain()
        :: break
        od;
        stop();
        starts++
    :: else -> break
    od;
    do
    :: cpu_done && link == FREE && !keeps_gate -> break
    :: else -> drain()
    od;
    assert(state == OFF && !armed && !may_run && !gate)
}

init
{
    atomic {
        run cpu();
        run ticks();
        run first()
    }
}
