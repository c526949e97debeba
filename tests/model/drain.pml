/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The whole drain of profiler/src/drain.c: the vector, the small table in two
 * halves, and the time that each sample stands for.
 *
 * The interrupt is one step, since it runs to its end before the drain goes
 * on, and may come between any two steps of the drain but for those that have
 * interrupts off. Sample number n is taken at time n, so that every sample
 * stands for the time 1 and all of them together for SAMPLES. The map may
 * refuse memory at any time, but for the last drain.
 *
 * What must hold:
 *   - no sample ever stands for a negative time
 *   - in the end drained + dropped = SAMPLES, in samples and in time
 *   - a half gets its turn only when it is empty
 *
 * BROKEN_TAKE takes the small table although the vector was not read to its
 * end; BROKEN_MASK leaves interrupts on for the handing over. Both must fail.
 */

#define ENTRIES 3
#define SAMPLES 8

byte entry_tsc[ENTRIES];
byte entry_pc[ENTRIES];
byte head = 0, tail = 0;

typedef half {
    byte pc;     /* one slot: whatever else comes is dropped */
    byte count;
    byte cycles
};
half spill[2];
byte turn = 0, waiting = 0, spill_last = 0;
byte dropped = 0, dropped_cycles = 0;

byte sample = 0;       /* samples taken so far; the clock */
bool masked = false;   /* the drain has interrupts off */
bool done = false;     /* the last sample was taken */

/* The drain's own. */
byte read_at = 0, last_tsc = 0, dropped_seen = 0;
bool has_taken = false;
byte taken = 0;
byte drained = 0, drained_cycles = 0;

#define NEXT(i) ((i + 1) % ENTRIES)
#define BEFORE(i) ((i + ENTRIES - 1) % ENTRIES)
#define SPILL_NEW (waiting + dropped - dropped_seen)

inline add_to_spill(address)
{
    previous = entry_tsc[BEFORE(head)];
    if
    :: previous < spill_last -> previous = spill_last
    :: else
    fi;
    assert(sample > previous);
    if
    :: spill[turn].count == 0 || spill[turn].pc == address ->
        spill[turn].pc = address;
        spill[turn].count++;
        spill[turn].cycles = spill[turn].cycles + sample - previous;
        waiting++
    :: else ->
        dropped++;
        dropped_cycles = dropped_cycles + sample - previous
    fi;
    spill_last = sample
}

proctype interrupt()
{
    byte address, previous;

    do
    :: atomic {
        !masked && sample < SAMPLES ->
        sample++;
        if
        :: address = 1
        :: address = 2
        fi;
        if
        :: NEXT(head) == tail -> add_to_spill(address)
        :: else ->
            entry_tsc[head] = sample;
            entry_pc[head] = address;
            head = NEXT(head)
        fi;
        address = 0;
        previous = 0
       }
    :: atomic { sample == SAMPLES -> done = true; break }
    od
}

inline drain_taken(may_refuse)
{
    if
    :: has_taken && spill[taken].count != 0 ->
        if
        :: drained = drained + spill[taken].count;
           drained_cycles = drained_cycles + spill[taken].cycles;
           atomic { spill[taken].count = 0; spill[taken].cycles = 0 };
           has_taken = false
        :: may_refuse -> room = false
        fi
    :: else -> has_taken = false
    fi
}

inline drain_vector(may_refuse)
{
    until = head;
    do
    :: room && read_at != until ->
        if
        :: assert(entry_tsc[read_at] > last_tsc);
           drained++;
           drained_cycles = drained_cycles + entry_tsc[read_at] - last_tsc;
           last_tsc = entry_tsc[read_at];
           read_at = NEXT(read_at)
        :: may_refuse -> room = false
        fi
    :: else -> break
    od
}

inline hand_over()
{
#ifndef BROKEN_MASK
    masked = true;
#endif
    at_end = (read_at == head);
    spilled = (SPILL_NEW != 0);
#ifdef BROKEN_TAKE
    take = spilled && !has_taken;
#else
    take = spilled && at_end && !has_taken;
#endif
    if
    :: take ->
        assert(spill_last > last_tsc);
        last_tsc = spill_last;
        dropped_seen = dropped;
        assert(spill[1 - turn].count == 0);
        taken = turn;
        turn = 1 - turn;
        waiting = 0;
        has_taken = true
    :: else
    fi;
    if
    :: take || !spilled -> tail = read_at
    :: else
    fi;
    masked = false
}

proctype drain()
{
    bool ending = false, room, more, at_end, spilled, take;
    byte until;

    do
    :: ending = done;
       more = true;
       do
       :: more ->
           room = true;
           drain_taken(!ending);
           drain_vector(!ending);
           hand_over();
           more = (spilled || !at_end) && room
       :: else -> break
       od;
       if
       :: ending -> break
       :: else
       fi
    od;
    assert(drained + dropped == SAMPLES);
    assert(drained_cycles + dropped_cycles == SAMPLES)
}

init
{
    atomic {
        run interrupt();
        run drain()
    }
}
