/* SPDX-License-Identifier: Apache-2.0 */

/*
 * One drain for the vectors of several CPUs (profiler/aggregate/drain.c:
 * drain_all()).
 *
 * Each CPU has a producer, an NMI, whose memory accesses are steps; so are the
 * drain's, which runs on one of the CPUs, with fewer interleavings, and so on
 * another one for all the rest. What a drain may do is limited, here to WORK
 * samples of all CPUs together, so that one whose samples need much work could
 * keep the others' from being read. Each drain therefore begins with the next
 * CPU. The vector itself is in ring.pml and drain.pml.
 *
 * What must hold, whatever the order of steps:
 *   - the samples of each CPU are seen in the order of time, none lost or twice
 *   - a CPU whose vector was not empty waits for less than CPUS drains
 *   - once no more samples come, all are read after as many drains as needed
 *
 * With BROKEN_FIRST each drain begins with the first CPU; with BROKEN_SHARED all
 * vectors are released up to where the one read last was; with BROKEN_ENDS the
 * last drains end with the first CPU that has no more: each must be found out.
 */

#define CPUS 2
#define ENTRIES 3
#define SAMPLES 3 /* of each CPU */
#define WORK 1

byte entry[CPUS * ENTRIES]; /* the number of a sample */
byte head[CPUS], tail[CPUS];
byte refused[CPUS];         /* samples that found their vector full */
byte produced = 0;          /* CPUs that have taken all of theirs */

#define NEXT(i) ((i + 1) % ENTRIES)

proctype producer(byte cpu)
{
    byte count = 0, at;

    do
    :: count < SAMPLES ->
        at = head[cpu];
        count++;
        if
        :: NEXT(at) == tail[cpu] -> refused[cpu]++           /* (B') */
        :: else ->
            entry[cpu * ENTRIES + at] = count;
            head[cpu] = NEXT(at)                             /* (A) */
        fi;
        at = 0
    :: else -> break
    od;
    produced++
}

proctype drain()
{
    byte read_at[CPUS], last[CPUS], seen[CPUS], waited[CPUS];
    byte turn = 0, work, i, cpu, until, now;
    bool ending = false, more, found[CPUS];

    do
    :: ending = (produced == CPUS);
       work = WORK;
       more = false;
       i = 0;
       do
       :: i < CPUS -> found[i] = (head[i] != read_at[i]); i++
       :: else -> break
       od;
       i = 0;
       do
       :: i < CPUS ->
           cpu = (turn + i) % CPUS;
           until = head[cpu];                                /* (A') */
           do
           :: work > 0 && read_at[cpu] != until ->
               now = entry[cpu * ENTRIES + read_at[cpu]];
               assert(now > last[cpu]);
               d_step {
                   last[cpu] = now;
                   now = 0;
                   seen[cpu]++;
                   read_at[cpu] = NEXT(read_at[cpu]);
                   found[cpu] = false;
                   waited[cpu] = 0;
                   work--
               }
           :: else -> break
           od;
#ifdef BROKEN_SHARED
           tail[0] = read_at[cpu];
           tail[1] = read_at[cpu];
#else
           tail[cpu] = read_at[cpu];                         /* (B) */
#endif
#ifdef BROKEN_ENDS
           more = (read_at[cpu] != until);
#else
           more = more || (read_at[cpu] != until);
#endif
           i++
       :: else -> break
       od;
#ifndef BROKEN_FIRST
       turn = (turn + 1) % CPUS;
#endif
       i = 0;
       do
       :: i < CPUS ->
           if
           :: found[i] -> waited[i]++
           :: else -> skip
           fi;
           assert(waited[i] < CPUS);
           found[i] = false;
           i++
       :: else -> break
       od;
       until = 0;
       cpu = 0;
       if
       :: ending && !more -> break
       :: else -> skip
       fi
    od;
    i = 0;
    do
    :: i < CPUS -> assert(seen[i] + refused[i] == SAMPLES); i++
    :: else -> break
    od
}

init
{
    atomic {
        run producer(0);
        run producer(1);
        run drain()
    }
}
