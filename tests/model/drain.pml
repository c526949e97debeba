/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The drain (profiler/aggregate/drain.c) with the two halves of the
 * overflow table (profiler/sample/overflow.h), and the time that each sample
 * carries.
 *
 * The producer is an NMI: it runs to its end before the drain goes on, but may
 * come between any two of the drain's memory accesses, and no part of the drain
 * can keep it out. With OTHER_CPU it is no single step either: it runs on a CPU
 * of its own, and the drain takes a half only when it has seen head move on.
 * With STORE_BUFFER, too, what the drain stores reaches the producer later, in
 * the order of the stores, while the drain itself goes on with its loads (Intel
 * SDM vol. 3A, 9.2.3.4). The producer needs none: it stores nothing before it
 * has loaded what it depends on, and `iret` waits for its stores.
 *
 * Sample number n is taken at time n, so that every sample carries the time
 * 1 and all of them together for SAMPLES. The map may refuse memory at any
 * time, but for the last drain.
 *
 * What must hold:
 *   - no sample ever carries a negative time, and none is seen out of order
 *   - in the end drained + dropped = ticks, in samples and in time; ticks is
 *     the producer's own count
 *   - the consumer reads a half only when nobody adds to it any more
 *   - a third half is never needed
 *
 * The variants must all fail: BROKEN_ORDER takes a half that belongs further on
 * than was read; BROKEN_READ reads on past a half that is waiting; BROKEN_CLAIM
 * lets the producer add to the half it has although that holds another episode;
 * BROKEN_ROOM gives entries back although a half waits; BROKEN_TURN is the table
 * as it once was, where the drain turns the halves over, and needs interrupts
 * off for it. BROKEN_MOVED, on another CPU, takes a half although head has not
 * moved on; BROKEN_STORES lets the store to tail overtake those that free a
 * half.
 */

#ifdef STORE_BUFFER
#define ENTRIES 2
#define SAMPLES 6
#elif defined(OTHER_CPU)
#define ENTRIES 3
#define SAMPLES 6
#else
#define ENTRIES 3
#define SAMPLES 7
#endif
#define NONE 255

/* Fewer choices where the order of stores adds some. */
#ifdef STORE_BUFFER
#define MAY_REFUSE false
#else
#define MAY_REFUSE !ending
#endif

byte entry_tsc[ENTRIES];
byte entry_pc[ENTRIES];
byte head = 0, tail = 0;

typedef half {
    byte at;     /* entry before which its samples came; NONE: free */
    byte last;
    byte pc;     /* one slot: whatever else comes is dropped */
    byte count;
    byte cycles;
    byte dropped;
    byte dropped_cycles
};
half halves[2];
byte turn = 0, overflow_last = 0, no_half = 0;

byte sample = 0;       /* ticks so far; the clock */
bool done = false;     /* the last sample was taken */
bool adding[2];        /* the producer is in the middle of this half */

/* The drain's own. */
byte read_at = 0, last_tsc = 0, taken = NONE;
byte drained = 0, drained_cycles = 0, dropped = 0, dropped_cycles = 0;

#define NEXT(i) ((i + 1) % ENTRIES)
#define BEFORE(i) ((i + ENTRIES - 1) % ENTRIES)
#define DISTANCE(from, to) ((to + ENTRIES - from) % ENTRIES)

/* The drain's stores to tail and at, and its own loads of them. */
#ifdef STORE_BUFFER
#define TAIL 2                /* 0, 1: this half is free */
chan stores = [3] of { byte, byte };
byte own_tail = 0;
bool freed[2];                /* stored, and not in memory yet */
#define STORED_TAIL own_tail
#define STORED_AT(i) (freed[i] -> NONE : halves[i].at)

inline store_tail(value)
{
    atomic { nfull(stores) -> own_tail = value; stores!TAIL, value }
}

inline store_free(i)
{
    atomic { nfull(stores) -> freed[i] = true; stores!i, 0 }
}

proctype store_buffer()
{
    byte what, value;

end:
    do
#ifdef BROKEN_STORES
    :: atomic { stores??TAIL, value -> tail = value; value = 0 }
#endif
    :: atomic {
           stores?what, value ->
           if
           :: what == TAIL -> tail = value
           :: else -> halves[what].at = NONE; freed[what] = false
           fi;
           what = 0;
           value = 0
       }
    od
}
#else
#define STORED_TAIL tail
#define STORED_AT(i) halves[i].at
#define store_tail(value) tail = value
#define store_free(i) halves[i].at = NONE
#endif

inline choose_half()
{
#ifdef BROKEN_TURN
    chosen = turn;
    halves[chosen].at = head
#else
    if
    :: halves[turn].at == head -> chosen = turn
#ifdef BROKEN_CLAIM
    :: halves[turn].at != NONE && halves[turn].at != head -> chosen = turn
#endif
    :: else ->
        if
        :: halves[1 - turn].at == NONE ->                   /* (C') */
            turn = 1 - turn;
            chosen = turn;
            halves[chosen].dropped = no_half;
            no_half = 0;
            halves[chosen].at = head
        :: else -> chosen = NONE
        fi
    fi
#endif
}

inline add_to_overflow(address)
{
    previous = entry_tsc[BEFORE(head)];
    if
    :: previous < overflow_last -> previous = overflow_last
    :: else
    fi;
    assert(sample > previous);
    choose_half();
    if
    :: chosen == NONE ->
        assert(false);      /* a third half */
        no_half++
    :: else ->
        adding[chosen] = true;
        if
        :: halves[chosen].count == 0 || halves[chosen].pc == address ->
            halves[chosen].pc = address;
            halves[chosen].count++;
            halves[chosen].cycles = halves[chosen].cycles + sample - previous
        :: else ->
            halves[chosen].dropped++;
            halves[chosen].dropped_cycles =
                halves[chosen].dropped_cycles + sample - previous
        fi;
        halves[chosen].last = sample;
        overflow_last = sample;
        adding[chosen] = false
    fi
}

inline take_sample()
{
    sample++;
    if
    :: address = 1
#ifndef STORE_BUFFER
    :: address = 2
#endif
    fi;
    if
    :: NEXT(head) == tail -> add_to_overflow(address)       /* (B') */
    :: else ->
        entry_tsc[head] = sample;
        entry_pc[head] = address;
        head = NEXT(head)                                   /* (A) */
    fi;
    address = 0;
    previous = 0;
    chosen = 0
}

proctype producer()
{
    byte address, previous, chosen;

    do
    :: sample < SAMPLES ->
#ifdef OTHER_CPU
        take_sample()
#else
        atomic { take_sample() }
#endif
    :: sample == SAMPLES -> done = true; break
    od
}

inline drain_taken(may_refuse)
{
    if
    :: taken == NONE
    :: taken != NONE ->
        if
        :: true ->
            drained = drained + halves[taken].count;
            assert(!adding[taken]);
            drained_cycles = drained_cycles + halves[taken].cycles;
            assert(!adding[taken]);
            halves[taken].count = 0;
            halves[taken].cycles = 0;
            halves[taken].dropped = 0;
            halves[taken].dropped_cycles = 0;
            store_free(taken);                              /* (C) */
            taken = NONE
        :: may_refuse -> room = false
        fi
    fi
}

/* prof_overflow_until(): head first, then the halves. */
inline find_until()
{
    until = head;                                           /* (A') */
#ifndef BROKEN_READ
    i = 0;
    do
    :: i < 2 ->
        at = STORED_AT(i);
        if
        :: at != NONE && DISTANCE(read_at, at) < DISTANCE(read_at, until) ->
            until = at
        :: else
        fi;
        i++
    :: else -> break
    od
#endif
}

inline drain_vector(may_refuse)
{
    find_until();
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

/* The half that is found is the next one: its samples, if any, come now. */
inline take_found()
{
    assert(!adding[found]);
    assert(halves[found].last > last_tsc);
    last_tsc = halves[found].last;
    dropped = dropped + halves[found].dropped;
    dropped_cycles = dropped_cycles + halves[found].dropped_cycles;
    taken = found
}

#ifdef OTHER_CPU
#ifdef BROKEN_MOVED
#define CLOSED true
#else
#define CLOSED (ended || head != read_at)
#endif
#else
#define CLOSED true
#endif

/* prof_overflow_take() and what the drain does with it. */
inline hand_over()
{
    found = NONE;
    waiting = false;
    ended = done;
    i = 0;
    do
    :: i < 2 ->
        at = STORED_AT(i);
        waiting = waiting || at != NONE;
        if
#ifdef BROKEN_ORDER
        :: at != NONE -> found = i
#else
        :: at == read_at -> found = i
#endif
        :: else
        fi;
        i++
    :: else -> break
    od;
    if
#ifdef BROKEN_ROOM
    :: true -> store_tail(read_at)                          /* (B) */
#else
    :: !waiting || (found != NONE && NEXT(read_at) == STORED_TAIL) ->
        store_tail(read_at)                                 /* (B) */
    :: else
#endif
    fi;
    if
    :: found != NONE && CLOSED -> take_found()
    :: else
    fi
}

#ifdef BROKEN_TURN
/* The halves in turns, without interrupts off. */
inline hand_over_in_turns()
{
    found = NONE;
    if
    :: read_at == head && halves[turn].at != NONE ->
        assert(halves[1 - turn].at == NONE);
        found = turn;
        turn = 1 - turn;
        take_found();
        tail = read_at
    :: read_at == head && halves[turn].at == NONE -> tail = read_at
    :: else
    fi
}
#endif

proctype drain()
{
    bool ending = false, ended, room, waiting, more;
    byte until, at, i, found;

    do
    :: ending = done;
       more = true;
       do
       :: more ->
           room = true;
           drain_taken(MAY_REFUSE);
           if
           :: room -> drain_vector(MAY_REFUSE)
           :: else
           fi;
           if
           :: taken != NONE
           :: else ->
#ifdef BROKEN_TURN
               hand_over_in_turns()
#else
               hand_over()
#endif
           fi;
           more = room && (taken != NONE || read_at != head);
           at = 0;
           i = 0;
           found = 0;
           until = 0
       :: else -> break
       od;
       if
       :: ending -> break
       :: else
       fi
    od;
#ifdef STORE_BUFFER
    empty(stores);
#endif
    assert(no_half == 0);
    assert(halves[0].at == NONE && halves[1].at == NONE);
    assert(drained + dropped == sample);
    assert(drained_cycles + dropped_cycles == sample)
}

init
{
    atomic {
        halves[0].at = NONE;
        halves[1].at = NONE;
        run producer();
#ifdef STORE_BUFFER
        run store_buffer();
#endif
        run drain()
    }
}
