/* SPDX-License-Identifier: Apache-2.0 */

/*
 * How a CPU hands a copy of its loop's statistics to the first one
 * (profiler/loop/cpus.h), which may take back that it has asked, and which
 * resets all counts.
 *
 * Each memory access is a step of its own. The copy has two words, which a
 * whole one has alike: the number of the turn that it was made in. Long runs
 * are in one copy each; what is asked for anew must have been sent before.
 *
 * What must hold, whatever the order of steps:
 *   - what is read is one copy                                       (torn)
 *   - what is read is no older than what was read before             (old)
 *   - after a reset no copy from before it is read                   (void)
 *   - each copy that was made is sent, or was the last one           (lost)
 *
 * BROKEN_CLAIM has the CPU look whether it is asked and then begin, without an
 * exchange; BROKEN_TAKE has the first CPU read without taking back what it has
 * asked; BROKEN_EARLY hands over before the last word is written; BROKEN_RESET
 * marks the copy by the resets that were ordered, not by those followed; BROKEN_SENT asks anew
 * before the copy was sent: each must be found out.
 */

#define TURNS 4
#define ASKS 3

mtype = { RESTS, ASKED, FILLS };

mtype state = RESTS;
byte first = 0, second = 0;     /* the words of the copy */
byte copy_resets = 0;           /* after so many of them */
byte serial = 0, sent = 0;      /* copies made, and the last that was sent */
byte resets = 0;                /* ordered */
byte counted = 0;               /* resets that what is in it has seen */
byte turn = 0;                  /* of the CPU's loop */

proctype other()
{
    byte followed = 0;
    bool is_asked;

    do
    :: turn < TURNS ->
        turn++;
        followed = resets;
#ifdef BROKEN_CLAIM
        is_asked = (state == ASKED);
        if
        :: is_asked -> state = FILLS
        :: else
        fi;
#else
        atomic {
            is_asked = (state == ASKED);
            if
            :: is_asked -> state = FILLS
            :: else
            fi
        }
#endif
        if
        :: is_asked ->
            assert(sent == serial);        /* lost */
            first = turn;
            counted = followed;
#ifdef BROKEN_EARLY
            copy_resets = followed;
            serial++;
            state = RESTS;
            second = turn
#else
            second = turn;
#ifdef BROKEN_RESET
            copy_resets = resets;
#else
            copy_resets = followed;
#endif
            serial++;
            state = RESTS
#endif
        :: else
        fi
    :: else -> break
    od
}

proctype reader()
{
    byte asks = 0, before = 0, one;
    byte ordered = 0;

    do
    :: asks < ASKS ->
        asks++;
        if
        :: ordered < 2 ->                  /* a reset, or none */
            ordered++;
            resets = ordered
        :: true
        fi;
        if
        :: state == RESTS ->
#ifndef BROKEN_SENT
            sent = serial;
#endif
            state = ASKED
        :: else
        fi;
        if                                 /* it answers, or time is up */
        :: state == RESTS
        :: true
        fi;
#ifndef BROKEN_TAKE
        atomic {
            if
            :: state == ASKED -> state = RESTS
            :: else
            fi
        }
#endif
        if
#ifdef BROKEN_TAKE
        :: state != FILLS && serial != 0 ->
#else
        :: state == RESTS && serial != 0 ->
#endif
            if
            :: copy_resets == ordered ->
                one = first;
                assert(one == second);     /* torn */
                assert(one >= before);     /* old */
                assert(counted == ordered); /* void */
                before = one
            :: else
            fi
        :: else
        fi
    :: else -> break
    od
}

init
{
    atomic {
        run other();
        run reader()
    }
}
