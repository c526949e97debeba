/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A ring of sums, one for the end of each second. Between two calls the CPU was
 * idle, or was not; so what it had been at any moment in between is known
 * exactly.
 */

#include "loop/utilisation.h"

#include "base/cpu.h"

#define MARKS (PROF_UTILISATION_SECONDS + 1)

static struct {
    uint64_t second;       /* cycles of one */
    uint64_t next;         /* end of the present one */
    uint64_t last;         /* the last call */
    uint64_t idle;         /* time that was idle until then */
    bool is_idle;          /* since then */
    uint32_t at;           /* of the newest mark */
    uint32_t count;        /* marks, the newest ones */
    uint64_t marks[MARKS]; /* idle time at the end of whole seconds */
} loop;

static void mark(uint64_t idle)
{
    loop.at = (loop.at + 1) % MARKS;
    loop.marks[loop.at] = idle;
    if (loop.count < MARKS)
        loop.count++;
    loop.next += loop.second;
}

void prof_utilisation_open(uint64_t tsc, uint64_t hz)
{
    loop.second = hz != 0 ? hz : 1;
    loop.next = loop.last = tsc;
    loop.idle = loop.count = 0;
    loop.is_idle = false;
    mark(0);
}

/* Seconds that are older than all marks need none. */
static void skip(uint64_t tsc)
{
    uint64_t behind = tsc - loop.next, seconds = 0, step = loop.second;

    if (behind < MARKS * loop.second)
        return;
    while (step <= behind >> 1)
        step <<= 1;
    for (; step >= loop.second; step >>= 1)
        if (step <= behind - seconds)
            seconds += step;
    seconds -= (MARKS - 1) * loop.second;
    loop.next += seconds;
}

/* Marks the seconds that have ended until (tsc). */
static void advance(uint64_t tsc)
{
    if (tsc >= loop.next)
        skip(tsc);
    while (tsc >= loop.next)
        mark(loop.idle + (loop.is_idle ? loop.next - loop.last : 0));
    if (loop.is_idle)
        loop.idle += tsc - loop.last;
    loop.last = tsc;
}

void prof_utilisation_idle(uint64_t tsc)
{
    advance(tsc);
    loop.is_idle = true;
}

void prof_utilisation_busy(uint64_t tsc)
{
    advance(tsc);
    loop.is_idle = false;
}

/* (part) of (whole), in thousandths. */
static uint32_t permille(uint64_t part, uint64_t whole)
{
    while (whole > UINT32_MAX / 1000) {
        whole >>= 1;
        part >>= 1;
    }
    return whole == 0 ? 0
                      : (uint32_t)prof_divide(part * 1000 + whole / 2,
                                              (uint32_t)whole);
}

uint32_t prof_utilisation(uint64_t tsc, uint32_t *seconds)
{
    uint64_t idle;

    if (loop.second == 0) {
        *seconds = 0;
        return 0;
    }
    advance(tsc);
    if (*seconds > loop.count - 1)
        *seconds = loop.count - 1;
    if (*seconds == 0)
        return 0;
    idle =
        loop.marks[loop.at] - loop.marks[(loop.at + MARKS - *seconds) % MARKS];
    return 1000 - permille(idle, loop.second * *seconds);
}
