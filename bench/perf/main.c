/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The work as a guest of ours, with our sampler, as linux/init has it with
 * perf. Under -icount shift=0 the time stamp counter moves on by one for each
 * instruction, and by a thousand million in a second.
 *
 * The lines "bench NAME VALUE" and "share LEAF SAMPLES" are for table.py, and
 * so are those of steps.c.
 */

#include "guest/guest.h"
#include "perf.h"
#include "work.h"

#include <debugcon.h>
#include <kernel/console.h>
#include <kernel/service.h>
#include <prof/transport.h>
#include <stdlib.h>
#include <string.h>

#define PIECES 8u /* of a run; the vectors hold what a piece of it samples */
#define UNITS 1000u
#define FAST_HZ 1000u

static struct {
    uint32_t rounds; /* of a run, in all pieces */
    uint32_t reps;
} wanted = {25000, 5};

bool service_option(const char *key, const char *value)
{
    uint32_t number = (uint32_t)strtoul(value, NULL, 10);

    if (number == 0)
        return false;
    if (strcmp(key, "perf.rounds") == 0)
        wanted.rounds = number;
    else if (strcmp(key, "perf.reps") == 0)
        wanted.reps = number;
    else
        return false;
    return true;
}

void perf_emit(const char *name, uint64_t hundredths)
{
    console_line("bench %s %u.%02u", name, (unsigned)(hundredths / 100),
                 (unsigned)(hundredths % 100));
}

/* Instructions of the rounds, and of the drains between their pieces. */
struct taken {
    uint64_t work;
    uint64_t drains;
};

/* Inlined, so that the chains are as long as those that perf sees in Linux. */
static inline __attribute__((always_inline)) struct taken work(void)
{
    struct taken taken = {0, 0};

    for (uint32_t piece = 0; piece < PIECES; piece++) {
        uint64_t begin = arch_tsc(), middle;

        for (uint32_t i = 0; i < wanted.rounds / PIECES; i++)
            work_round(UNITS);
        middle = arch_tsc();
        prof_drain();
        taken.work += middle - begin;
        taken.drains += arch_tsc() - middle;
    }
    return taken;
}

/* Emits what a sample adds to the work, which takes (alone) without samples. */
__attribute__((noinline)) static void sampled(const char *name, uint64_t alone,
                                              uint32_t hz, uint32_t depth)
{
    struct prof_stats stats;
    struct taken taken;

    prof_set_rate(hz);
    prof_set_depth(depth);
    prof_start();
    prof_reset();
    taken = work();
    prof_stats(&stats);
    prof_stop();
    if (stats.dropped + stats.overflowed + stats.missed != 0)
        console_line("perf: %s: samples went another way", name);
    perf_emit(name, (taken.work - alone) * 100 / stats.ticks);
}

static bool send(const void *packet, size_t bytes)
{
    debugcon_write(packet, bytes);
    return true;
}

/* Emits all that a sample costs, with interrupts, drains and the stream. What
 * is new is sampled and sent before that is counted. */
__attribute__((noinline)) static void whole(const char *name, uint64_t alone,
                                            uint32_t depth)
{
    static const struct prof_transport stream = {.name = "perf", .send = send};
    struct prof_stats before, after;
    struct taken taken;

    prof_reset();
    prof_transport_use(&stream);
    prof_set_rate(FAST_HZ);
    prof_set_depth(depth);
    prof_start();
    work();
    prof_stats(&before);
    taken = work();
    prof_stats(&after);
    prof_stop();
    prof_transport_use(NULL);
    if (after.dropped + after.overflowed + after.missed != 0 ||
        after.stream_bytes == before.stream_bytes)
        console_line("perf: %s: samples went another way", name);
    perf_emit(name, (taken.work + taken.drains - alone) * 100 /
                        (after.ticks - before.ticks));
}

static void longest(const struct prof_stack_row *row, void *context)
{
    uint32_t *count = context;

    if (row->count > *count)
        *count = row->count;
}

/* The chains of the run before: how long, and whether a walk ended early. */
static void emit_chains(void)
{
    struct prof_stats stats;
    uint32_t count = 0, stopped = 0;

    prof_visit_stacks(longest, &count);
    prof_stats(&stats);
    for (size_t i = 0; i < sizeof stats.stopped / sizeof *stats.stopped; i++)
        stopped += (uint32_t)stats.stopped[i];
    perf_emit("frames", count * 100);
    perf_emit("frames_stopped", stopped * 100);
}

/* The leaves' samples of the run before. */
static void emit_leaves(void)
{
    for (size_t i = 0; i < PERF_LEAVES; i++)
        console_line(
            "share %s %u", perf_leaves[i].name,
            (unsigned)guest_row((uintptr_t)perf_leaves[i].run).samples);
}

int service_main(void)
{
    for (uint32_t rep = 0; rep < wanted.reps; rep++) {
        uint64_t alone = work().work;

        sampled("flat", alone, 1, 0);
        sampled("stack", alone, 1, PROF_DEPTH_DEFAULT);
        sampled("flat_own", alone, FAST_HZ, 0);
        if (rep == 0)
            emit_leaves();
        sampled("stack_own", alone, FAST_HZ, PROF_DEPTH_DEFAULT);
        if (rep == 0)
            emit_chains();
        whole("flat_whole", alone, 0);
        whole("stack_whole", alone, PROF_DEPTH_DEFAULT);
    }
    perf_steps();
    return 0;
}
