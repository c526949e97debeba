/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The frame vector of profiler/sample/frames.h beside the vector of entries: a
 * sample's words lie in one, how many there are in the other.
 *
 * As in ring.pml each memory access is a step of its own. Samples carry 0 to 2
 * words; every word of a sample is the sample's number, and so is its entry.
 * Counts of words wrap at COUNTS, a multiple of the capacity, and a sample's
 * words run on into the margin after the last one.
 *
 * What must hold, whatever the order of steps:
 *   - a sample that is seen comes with its own words            (torn, mixed up)
 *   - what is seen rises, and what is not seen was counted      (lost)
 *   - a sample that found no room for its words is seen without
 *
 * BROKEN_A hands the entry over before its words are written, BROKEN_B gives
 * words back before they are read, BROKEN_ROOM leaves the consumer's count out
 * of the room that there is: each must be found out.
 */

#define ENTRIES 4
#define CAPACITY 4
#define MARGIN 2
#define COUNTS 8
#define SAMPLES 6

byte pc[ENTRIES];
byte words[ENTRIES];        /* of the entry */
byte word[6];               /* CAPACITY + MARGIN */
byte head = 0, tail = 0;
byte frames_head = 0, frames_tail = 0;
byte refused = 0;           /* samples that found the entries full */
bool produced = false;

#define NEXT(i) ((i + 1) % ENTRIES)
#define USED(from, to) ((to + COUNTS - from) % COUNTS)

inline write_words()
{
    i = 0;
    do
    :: i < count -> word[(frames_head % CAPACITY) + i] = sample; i++
    :: else -> break
    od;
    frames_head = (frames_head + count) % COUNTS    /* (A) */
}

proctype producer()
{
    byte sample = 1, next, seen_tail, count, i;

    do
    :: sample <= SAMPLES ->
        next = NEXT(head);
        seen_tail = tail;                           /* (B') */
        if
        :: next == seen_tail -> refused++
        :: else ->
            if
            :: count = 0
            :: count = 1
            :: count = 2
            fi;
            seen_tail = frames_tail;                /* (B') */
#ifndef BROKEN_ROOM
            if
            :: CAPACITY - USED(seen_tail, frames_head) < count -> count = 0
            :: else
            fi;
#endif
            pc[head] = sample;
            words[head] = count;
#ifdef BROKEN_A
            head = next;
            write_words()
#else
            write_words();
            head = next                             /* (A) */
#endif
        fi;
        sample++
    :: else -> break
    od;
    produced = true
}

proctype consumer()
{
    byte at = 0, from = 0, until, seen = 0, last = 0, i;
    bool ending = false;

    do
    :: ending = produced;
       until = head;                                /* (A') */
       do
       :: at != until ->
           assert(pc[at] > last);
           last = pc[at];
#ifdef BROKEN_B
           frames_tail = (from + words[at]) % COUNTS;
#endif
           i = 0;
           do
           :: i < words[at] ->
               assert(word[(from % CAPACITY) + i] == last);
               i++
           :: else -> break
           od;
           from = (from + words[at]) % COUNTS;
           seen++;
           at = NEXT(at)
       :: else -> break
       od;
       frames_tail = from;                          /* (B) */
       tail = at;                                   /* (B) */
       if
       :: ending -> break
       :: else
       fi
    od;
    assert(seen + refused == SAMPLES);
    assert(from == frames_head)
}

init
{
    atomic {
        run producer();
        run consumer()
    }
}
