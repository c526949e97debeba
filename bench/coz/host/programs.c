/* SPDX-License-Identifier: Apache-2.0 */
/*
 * programs PROGRAM SHORTER SCALE ROUNDS VISITS SECONDS: runs one of the
 * programs of tests/causal/works.h, by its number, or of threads.h, by its
 * name, as a process of Linux. Its part takes SHORTER per cent less. A
 * microsecond of the program takes SCALE of the machine's, and ROUNDS of a loop
 * take a millisecond. Ends after VISITS units of work or SECONDS, whichever is
 * first. Prints how many units that were, and how many nanoseconds they took.
 *
 * programs: prints how many ROUNDS this machine makes, and the part's line.
 *
 * Compiled for Coz, whose progress point is in machine_visited().
 */

#include "threads.h"
#include "world.h"

#include "causal/programs.h"

#include "causal/works.h"

#include <stdio.h>
#include <sys/prctl.h>

#define CALIBRATED 100000000u /* rounds */

static int calibrate(void)
{
    struct timespec from, to;
    double ns;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    spin(CALIBRATED);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    ns = (double)(to.tv_sec - from.tv_sec) * 1e9 +
         (double)(to.tv_nsec - from.tv_nsec);
    printf("%.0f machine.h:%d\n", CALIBRATED / ns * ROUNDS_PER, PART_LINE);
    return 0;
}

static uint64_t number(const char *text)
{
    return strtoull(text, NULL, 10);
}

static void run(const char *name)
{
    uint64_t work = number(name);

    for (unsigned i = 0; i < sizeof threads / sizeof *threads; i++)
        if (strcmp(threads[i].name, name) == 0) {
            threads_run(&threads[i]);
            return;
        }
    if (work >= PROGRAMS || works[work].what > PART_G)
        exit(2);
    sim_run(works[work].program, works[work].parameter,
            works[work].what == PART_G ? G : F);
}

int main(int argc, char **argv)
{
    if (argc == 1)
        return calibrate();
    if (argc != 7)
        return 2;
    prctl(PR_SET_TIMERSLACK, 1ul);
    shorter = number(argv[2]);
    scale = (uint32_t)number(argv[3]);
    rounds = number(argv[4]);
    visits_wanted = number(argv[5]);
    until = machine_ns() + number(argv[6]) * 1000000000u;
    run(argv[1]);
    printf("%llu %llu\n", (unsigned long long)visits_wanted,
           (unsigned long long)(ended - began));
    return 0;
}
