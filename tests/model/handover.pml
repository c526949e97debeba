/* SPDX-License-Identifier: Apache-2.0 */

/*
 * How a CPU hands a copy of its loop's statistics to the first one
 * (profiler/loop/cpus.h), which may take back that it has asked, and which
 * resets all counts; and how a kick makes a halted CPU poll
 * (kernel/prof_cpus.c).
 *
 * Each memory access is a step of its own. The copy has two words, which a
 * whole one has alike: the number of the turn that it was made in. Long runs
 * and freezes are in one copy each; what is asked for anew must have been sent
 * before. The CPU's loop halts when nothing waits, which it decides with
 * interrupts off: in one step. It turns only for a message and what is due.
 *
 * What must hold, whatever the order of steps:
 *   - what is read is one copy                                       (torn)
 *   - what is read is no older than what was read before             (old)
 *   - after a reset no copy from before it is read, also the first    (void)
 *   - each copy that was made is sent before the next is made        (lost)
 *   - and not again                                                 (twice)
 *   - a copy that was asked for after a reset counts from that      (stale)
 *   - in the end what is asked for is answered: no CPU is halted with a request
 *     that nothing will wake it for                               (asleep)
 *
 * BROKEN_CLAIM has the CPU look whether it is asked and then begin, without an
 * exchange; BROKEN_TAKE has the first CPU read without taking back what it has
 * asked; BROKEN_EARLY hands over before the last word is written; BROKEN_RESET
 * marks the copy by the resets that were ordered, not by those followed;
 * BROKEN_SENT asks anew before the copy was sent, BROKEN_VOID sends only copies
 * from after the last reset; BROKEN_TWICE sends a copy whenever it is there;
 * BROKEN_ORDER follows a reset before it has begun a copy; BROKEN_BEGIN begins
 * to count before it has read how many resets there were; BROKEN_KICK polls
 * without being due, in the turn of another message: each must be found out.
 */

#define ASKS 3
#define RESETS 2

mtype = { RESTS, ASKED, FILLS };

mtype state = RESTS;
byte first = 0, second = 0;     /* the words of the copy */
byte copy_resets = 0;           /* after so many of them */
byte counted = 0;               /* resets that what is in it has seen */
byte serial = 0, sent = 0;      /* copies made, and the last that was sent */
byte sendings = 0;              /* how often this one was */
byte resets = 0;                /* ordered */
byte asked_resets = 0;          /* that were ordered when it was asked */
byte turn = 0;                  /* of the CPU's loop */

bool message = false;           /* a kick is on its way, */
bool is_sent = false;           /* as the first CPU finds */
bool is_due = false;
bool asks_no_more = false;

/* Of the other CPU: resets that its counts have seen, and that it says. */
byte seen = 0, followed = 0;

inline follow()
{
    if
    :: followed != resets ->
        atomic {
            followed = resets;
            seen = followed
        }
    :: else
    fi
}

inline claim()
{
#ifdef BROKEN_CLAIM
    is_asked = (state == ASKED);
    if
    :: is_asked -> state = FILLS
    :: else
    fi
#else
    atomic {
        is_asked = (state == ASKED);
        if
        :: is_asked -> state = FILLS
        :: else
        fi
    }
#endif
}

inline poll()
{
    turn++;
#ifdef BROKEN_ORDER
    follow();
    claim();
#else
    claim();
    follow();
#endif
    if
    :: is_asked ->
        assert(sent == serial);                       /* lost */
        assert(seen >= asked_resets);                 /* stale */
        first = turn;
        counted = seen;
#ifdef BROKEN_EARLY
        copy_resets = followed;
        sendings = 0;
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
        sendings = 0;
        serial++;
        state = RESTS
#endif
    :: else
    fi
}

proctype other()
{
    bool is_asked = false;

#ifdef BROKEN_BEGIN
    seen = resets;                       /* its account begins */
    followed = resets;
#else
    followed = resets;
    seen = resets;
#endif
end:
    do
    :: atomic { (message || is_due) -> skip };   /* its halt ends */
        /* the sources of a turn, in their order */
#ifdef BROKEN_KICK
        poll();
#else
        if
        :: is_due ->
            is_due = false;
            poll()
        :: else ->                       /* in any turn, if only by chance */
            if
            :: poll()
            :: true
            fi
        fi;
#endif
        if
        :: message ->
            message = false;             /* taken; then it is called */
#ifndef BROKEN_KICK
            is_due = true;
#endif
            is_sent = false
        :: else
        fi
    :: atomic { asks_no_more && !message && !is_due -> break }
    od;
    assert(state != ASKED)                           /* asleep */
}

/* The first CPU's, in the state RESTS, in which the copy is its own. */
inline send()
{
    if
#ifdef BROKEN_TWICE
    :: serial != 0 ->
#else
    :: serial != sent ->
#endif
#ifdef BROKEN_VOID
        if
        :: copy_resets == ordered ->
            sendings++;
            sent = serial
        :: else
        fi
#else
        sendings++;
        assert(sendings == 1);                       /* twice */
        sent = serial
#endif
    :: else
    fi
}

inline kick()
{
    atomic {
        was_sent = is_sent;
        is_sent = true
    }
    if
    :: !was_sent -> message = true
    :: else
    fi
}

inline ask()
{
    if
    :: state == RESTS ->
#ifndef BROKEN_SENT
        send();
#endif
        asked_resets = ordered;
        state = ASKED;
        kick()
    :: state == ASKED -> kick()
    :: state == FILLS
    fi
}

proctype reader()
{
    byte asks = 0, before = 0, one;
    byte ordered = 0;
    bool was_sent;

    do
    :: asks < ASKS ->
        asks++;
        if
        :: ordered < RESETS ->             /* a reset, or none */
            if
            :: state == RESTS -> send()
            :: else
            fi;
            ordered++;
            resets = ordered
        :: true
        fi;
        ask();
        if
        :: true ->                         /* the stream asks, and goes on */
            if
            :: state == RESTS -> send()
            :: true
            fi
        :: true ->                         /* it answers, or time is up */
            if
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
                    assert(one == second);           /* torn */
                    assert(one >= before);           /* old */
                    assert(counted == ordered);      /* void */
                    before = one
                :: else
                fi
            :: else
            fi
        fi
    :: else -> break
    od;
    asks_no_more = true
}

init
{
    atomic {
        run other();
        run reader()
    }
}
