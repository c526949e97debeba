/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The fixed vector of profiler/sample/ring.h, every interleaving of its two sides.
 *
 * Producer and consumer are two processes here, each memory access a step of
 * its own: more freedom than one CPU has, so that the proof also holds for a
 * drain on another CPU. An entry is two words, as in the program, so that a
 * torn one would show.
 *
 * What must hold, whatever the order of steps:
 *   - the consumer never sees an entry whose two words differ       (torn)
 *   - what it sees rises: nothing twice, nothing out of order       (duplicated)
 *   - seen + refused as is_full = produced, and all is seen in the end (lost)
 *
 * The producer looks at tail only at its limit: where tail was when it looked
 * last, or the vector's end. The entry at head is written before that, which the
 * stubs do: it is nobody else's, also where the vector is full.
 *
 * With BROKEN_A the producer publishes before it writes, with BROKEN_B the
 * consumer gives back before it reads, with BROKEN_LIMIT the producer takes the
 * end for its limit where tail is nearer: each must be found out, else the model
 * proves nothing. The runner checks that they are.
 */

#define ENTRIES 3
#define SAMPLES 6

byte pc[ENTRIES];
byte tsc[ENTRIES];
byte head = 0;
byte tail = 0;
byte limit = ENTRIES; /* the producer's */
byte refused = 0; /* samples that found the vector full */
bool produced = false;

#define NEXT(i) ((i + 1) % ENTRIES)

proctype producer()
{
    byte sample = 1, at, next, seen_tail;
    bool is_full;

    do
    :: sample <= SAMPLES ->
        at = head;
        next = NEXT(at);
        is_full = false;
#ifndef BROKEN_A
        pc[at] = sample;
        tsc[at] = sample;
#endif
        if
        :: at + 1 == limit ->
            seen_tail = tail;                   /* (B') */
            if
            :: next == seen_tail -> is_full = true
#ifdef BROKEN_LIMIT
            :: else -> limit = ENTRIES
#else
            :: next != seen_tail && seen_tail > next -> limit = seen_tail
            :: next != seen_tail && seen_tail < next -> limit = ENTRIES
#endif
            fi
        :: else
        fi;
        if
        :: is_full -> refused++
        :: else ->
            head = next;                        /* (A) */
#ifdef BROKEN_A
            pc[at] = sample;
            tsc[at] = sample
#endif
        fi;
        sample++
    :: else -> break
    od;
    produced = true
}

proctype consumer()
{
    byte at = 0, until, seen = 0, last = 0, first, second;
    bool ending = false;

    do
    :: ending = produced;
       until = head;                            /* (A') */
#ifdef BROKEN_B
       tail = until;
#endif
       do
       :: at != until ->
           first = pc[at];
           second = tsc[at];
           assert(first == second);
           assert(first > last);
           last = first;
           seen++;
           at = NEXT(at)
       :: else -> break
       od;
#ifndef BROKEN_B
       tail = at;                               /* (B) */
#endif
       if
       :: ending -> break
       :: else
       fi
    od;
    assert(seen + refused == SAMPLES)
}

init
{
    atomic {
        run producer();
        run consumer()
    }
}
