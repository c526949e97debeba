/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Messages to a CPU that may halt: kernel/cpus.c.
 *
 * Senders push onto its stack, and interrupt it if they find that empty and the
 * CPU may halt. The CPU takes all messages in a turn of its loop. Before it
 * halts it says that it may, and looks for messages once more. Its interrupts
 * are off then, so one that comes stays pending and ends the halt. Each memory
 * access is a step; how messages are linked is of no importance.
 *
 * What must hold, whatever the order of steps: each message is taken, and the
 * CPU does not halt for ever while there is one.
 *
 * With BROKEN_LOOK the CPU looks for messages before it says that it may halt;
 * with BROKEN_ASK a sender asks whether it may before it has pushed: each must
 * be found out.
 */

#define SENDERS 2
#define EACH 2

byte messages = 0;      /* of the stack */
byte taken = 0;
bool may_halt = false, pending = false;

proctype sender()
{
    byte sent = 0;
    bool was_empty, halts;

    do
    :: sent < EACH ->
#ifdef BROKEN_ASK
        halts = may_halt;
#endif
        atomic { was_empty = (messages == 0); messages++ };
#ifndef BROKEN_ASK
        halts = may_halt;                                    /* (A) */
#endif
        if
        :: was_empty && halts -> pending = true
        :: else -> skip
        fi;
        sent++
    :: else -> break
    od
}

inline turn()
{
    may_halt = false;
    atomic { taken = taken + messages; messages = 0 }
}

proctype cpu()
{
    bool any;

    do
    :: taken == SENDERS * EACH -> break
    :: else ->
        turn();
#ifdef BROKEN_LOOK
        any = (messages != 0);
        may_halt = true;
#else
        may_halt = true;                                     /* (A) */
        any = (messages != 0);
#endif
        if
        :: any -> skip
        :: else ->
            (pending || taken == SENDERS * EACH);            /* the halt */
            pending = false
        fi
    od
}

init
{
    atomic {
        run cpu();
        run sender();
        run sender()
    }
}
