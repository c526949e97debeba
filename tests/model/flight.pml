/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Dumps of the flight recorder (profiler/trace/modes.c, reader.c), while an
 * interrupt records, and overwrites what the dump has not come to.
 *
 * The thread records events and switches, of which each has who was current
 * before, and now and then makes a dump. A dump first says who is current at
 * its first position, and after each loss again: it looks for the next switch
 * from there on. It may stop after each event, where the transport refuses, and
 * go on later. A panic makes a dump wherever it comes. Each memory access is a
 * step of the thread; an interrupt may come before each, and ends before the
 * thread goes on: so it is one step. The ring itself is in trace.pml.
 *
 * What must hold, whatever the order of steps:
 *   - each position is dumped or lost, once, and in order, over all dumps
 *   - what is dumped is whole
 *   - what is dumped is attributed to who was current, or to nobody
 *
 * With BROKEN_AGAIN the reader does not look again after it has copied; with
 * BROKEN_NOW a dump says who is current now, not who was then; with
 * BROKEN_GAP it does not say it again after a loss; with BROKEN_PASSED it does
 * not mind that an interrupt has overwritten the switch which it looks for;
 * with BROKEN_EARLY a switch changes who is current before it is recorded: each
 * must be found out.
 */

#define SLOTS 2
#define BUSY 255
#define UNKNOWN 254
#define THREAD_EVENTS 3
#define IRQ_EVENTS 3
#define POSITIONS 9 /* and one more */

byte a[SLOTS], b[SLOTS], at[SLOTS]; /* a: to whom, 0: no switch; b: from */
byte head = 1, current = 1;
bool panicked = false;
byte truth[POSITIONS]; /* who did what is there: 0, the interrupt; else who
                          was current when the thread took the position */

byte tail = 1, lost = 0, until, said, dumped, missed;
bool unsure, dumping = false;

/* ---- producers */

inline record(p, s, to)
{
    atomic { p = head; head++; truth[p] = current; s = p % SLOTS };
    at[s] = BUSY;
    a[s] = to;
    b[s] = truth[p];
    at[s] = p
}

inline switch_to(p, s, to)
{
#ifdef BROKEN_EARLY
    atomic {
        p = head; head++; truth[p] = current; s = p % SLOTS; current = to
    };
    at[s] = BUSY;
    a[s] = to;
    b[s] = truth[p];
    at[s] = p
#else
    record(p, s, to);
    current = to
#endif
}

/* ---- the reader; (ok): whether the position was read */

inline read_one(p, s, to, from, ok)
{
    s = p % SLOTS;
    ok = (at[s] == p);
    if
    :: ok ->
        to = a[s];
        from = b[s];
#ifndef BROKEN_AGAIN
        ok = (at[s] == p)
#endif
    :: else -> skip
    fi
}

/* Who is current before position (tail): said. */
inline say(p, s, to2, from2, ok2, end)
{
#ifdef BROKEN_NOW
    said = current;
#else
    end = head;
    p = tail;
    said = 0;
    do
    :: p < end && said == 0 ->
        read_one(p, s, to2, from2, ok2);
        if
        :: ok2 && to2 != 0 -> said = from2
        :: else -> skip
        fi;
        p++
    :: else -> break
    od;
    if
    :: said == 0 -> said = current
    :: else -> skip
    fi;
#ifndef BROKEN_PASSED
    atomic {
        if
        :: head > tail + SLOTS -> said = UNKNOWN
        :: else -> skip
        fi
    }
#endif
#endif
}

inline lose()
{
    tail++;
    lost++;
    missed++
}

/* Positions that were overwritten. */
inline catch_up()
{
    atomic {
        do
        :: head > tail + SLOTS -> lose()
        :: else -> break
        od
    }
}

inline begin_dump(p, s, to2, from2, ok2, end)
{
    dumping = true;
    until = head;
    catch_up();
    lost = 0;
    unsure = false;
    say(p, s, to2, from2, ok2, end)
}

/* The next event of the dump, or none: then it is over. */
inline dump_one(p, s, to, from, ok, to2, from2, ok2, end)
{
    catch_up();
    if
    :: tail >= until -> dumping = false
    :: else ->
        read_one(tail, s, to, from, ok);
        if
        :: !ok -> lose()
        :: else ->
            if
            :: lost != 0 -> lost = 0; unsure = true
            :: else -> skip
            fi;
#ifndef BROKEN_GAP
            if
            :: unsure -> say(p, s, to2, from2, ok2, end); unsure = false
            :: else -> skip
            fi;
#endif
            assert(from == truth[tail]); /* whole */
            assert(from == 0 || said == UNKNOWN || said == from);
            if
            :: to != 0 -> said = to
            :: else -> skip
            fi;
            dumped++;
            tail++
        fi
    fi
}

/* What is not used any more, so that there are fewer states. */
inline forget()
{
    d_step {
        p = 0; s = 0; to = 0; from = 0; ok = false;
        to2 = 0; from2 = 0; ok2 = false; end = 0
    }
}

proctype thread()
{
    byte count = 0, p, s, to, from, to2, from2, end;
    bool ok, ok2;

    {
    do
    :: count < THREAD_EVENTS -> record(p, s, 0); count++; forget()
    :: count < THREAD_EVENTS -> switch_to(p, s, 3 - current); count++; forget()
    :: count > 1 && !dumping -> begin_dump(p, s, to2, from2, ok2, end); forget()
    :: dumping -> dump_one(p, s, to, from, ok, to2, from2, ok2, end); forget()
    :: count == THREAD_EVENTS && !dumping -> break
    od;
    assert(dumped + missed == tail - 1)
    } unless { panicked }
}

/* Comes before any step of the thread, and ends before the next. A slot that
 * the thread is writing it leaves alone. */
proctype interrupt()
{
    byte count = 0, s;

    {
    do
    :: count < IRQ_EVENTS ->
        d_step {
            s = head % SLOTS;
            truth[head] = 0;
            if
            :: at[s] == BUSY -> skip
            :: else -> a[s] = 0; b[s] = 0; at[s] = head
            fi;
            head++;
            count++
        }
    :: else -> break
    od
    } unless { panicked }
}

/* Nothing else runs from here on: all that is there is dumped. */
proctype panic()
{
    byte p, q, who;

    d_step {
        panicked = true;
        p = tail;
        q = tail;
        who = 0;
        do
        :: q < head && who == 0 ->
            if
            :: at[q % SLOTS] == q && a[q % SLOTS] != 0 -> who = b[q % SLOTS]
            :: else -> skip
            fi;
            q++
        :: else -> break
        od;
        if
        :: who == 0 -> who = current
        :: else -> skip
        fi;
        do
        :: p < head ->
            if
            :: at[p % SLOTS] == p ->
                assert(b[p % SLOTS] == truth[p]);
                assert(truth[p] == 0 || head > tail + SLOTS ||
                       who == truth[p]);
                if
                :: a[p % SLOTS] != 0 -> who = a[p % SLOTS]
                :: else -> skip
                fi
            :: else -> skip
            fi;
            p++
        :: else -> break
        od
    }
}

init
{
    atomic {
        run thread();
        run interrupt();
        run panic()
    }
}
