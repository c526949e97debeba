/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_profile [--more|--none] [--few] [--deep] [--own] [--stolen|--outside]:
 * writes a
 * stream to stdout whose every sample is known, over the functions of the image
 * of names.sh.
 *
 * Two seconds at 1,000 Hz in two halves, each a table of stacks; in between,
 * ticks are missed and samples dropped. With --more the stacks of "work" have
 * twice their samples, with --none none, with --few each has a tenth. With
 * --stolen the host has taken 90 ms of the time before the gap. With --deep
 * there are only samples of "helper" below "recurse" in "recurse", as deep as a
 * stack may be. With --own there are 200 samples more of the profiler's own.
 * With --outside it is what is sampled from outside of the same
 * guest: from 100 ms before its first sample to 200 ms after its last one.
 */

#include "../unit/host/stream_maker.h"

#define FUNCTION_BYTES 64u /* of each function of the image */
#define TEXT 0x100000u
#define OFFSET 8u /* of a sample in its function; 2 is after "out" */

struct stack {
    uint32_t parent;   /* node, 0 = none */
    uint32_t function; /* of the image */
    uint32_t offset;
    uint32_t halves[2]; /* samples in each half */
};

/* Nodes from 1 on. The functions are main, work, helper, port, recurse and
 * those with hard names. */
static const struct stack stacks[] = {
    {0, 0, OFFSET, {50, 50}},   /* 1 main */
    {1, 1, OFFSET, {300, 0}},   /* 2 main;work */
    {2, 2, OFFSET, {100, 0}},   /* 3 main;work;helper */
    {1, 2, OFFSET, {0, 150}},   /* 4 main;helper */
    {1, 3, 2, {100, 100}},      /* 5 main;port, after an out */
    {1, 3, OFFSET, {20, 20}},   /* 6 main;port, elsewhere */
    {1, 4, OFFSET, {30, 30}},   /* 7 main;recurse */
    {7, 4, OFFSET, {30, 30}},   /* 8 main;recurse;recurse */
    {8, 2, OFFSET, {20, 20}},   /* 9 main;recurse;recurse;helper */
    {1, 5, OFFSET, {100, 100}}, /* hard names from here on */
    {1, 6, OFFSET, {80, 80}},   {1, 7, OFFSET, {60, 60}},
    {1, 8, OFFSET, {40, 120}},  {1, 9, OFFSET, {30, 130}},
    {1, 10, OFFSET, {20, 80}},
};
#define STACKS (sizeof stacks / sizeof stacks[0])

/* The stacks in turns, each as often as its weight. */
static void put_half(struct made *made, int half, uint32_t times_work,
                     uint32_t divisor)
{
    uint32_t left[STACKS], rest = 0;

    for (size_t i = 0; i < STACKS; ++i) {
        left[i] = stacks[i].halves[half] / divisor;
        if (i == 1 || i == 2)
            left[i] *= times_work;
        rest += left[i];
    }
    for (size_t i = 0; rest > 0; i = (i + 1) % STACKS) {
        if (left[i] == 0)
            continue;
        made_sample(made, (uint32_t)i + 1);
        --left[i];
        --rest;
    }
}

#define DEEPEST 1500u

static void put_deep(struct made *made)
{
    for (uint32_t i = 1; i <= DEEPEST; ++i)
        made_node(made, i, i - 1,
                  TEXT + (i < DEEPEST ? 4 : 2) * FUNCTION_BYTES + OFFSET);
    made->step = PROF_CLOCK_HZ / 1000;
    for (int i = 0; i < 100; ++i)
        made_sample(made, DEEPEST);
}

static void put_stacks(struct made *made, uint32_t times, uint32_t divisor,
                       bool stolen)
{
    for (uint32_t i = 0; i < STACKS; ++i)
        made_node(made, i + 1, stacks[i].parent,
                  TEXT + stacks[i].function * FUNCTION_BYTES +
                      stacks[i].offset);
    made->step = PROF_CLOCK_HZ / 1000;
    put_half(made, 0, times, divisor);
    if (stolen)
        MADE_EVENT(made, PROF_EVENT_STOLEN,
                   (struct prof_event_stolen){.clocks = 90 * made->step});
    made_word(made, PROF_EVENT_MISS, 7);
    MADE_EVENT(
        made, PROF_EVENT_DROP,
        (struct prof_event_drop){.samples = 5, .clocks = 5 * made->step});
    put_half(made, 1, times, divisor);
}

#define MS (PROF_CLOCK_HZ / 1000)
#define AHEAD (5 * PROF_CLOCK_HZ) /* the clock outside */
#define INSIDE_MS 1952            /* from the first sample to the last */

/* "main" is seen by both, "port" has interrupts off. Before the first sample
 * there is only "recurse", after the last one only "helper". */
static void put_outside(struct made *made)
{
    const uint64_t boot = 0x0909090909090909u;

    for (uint32_t i = 0; i < 5; ++i)
        made_node(made, i + 1, 0, TEXT + i * FUNCTION_BYTES + OFFSET);
    for (int ms = -100; ms < INSIDE_MS + 200; ms += 2) {
        bool masked = ms >= 500 && ms < 600;

        made->time = AHEAD + (uint64_t)((int64_t)ms * MS + MS / 2);
        if (ms > 0 && ms % 10 == 0)
            MADE_EVENT(made, PROF_EVENT_INSIDE,
                       (struct prof_event_inside){
                           boot, boot,
                           (uint64_t)(ms < INSIDE_MS ? ms : INSIDE_MS) * MS});
        if (masked)
            made_event(made, PROF_EVENT_MASKED, NULL, 0);
        made_sample(made, ms <= 0 ? 5 : ms > INSIDE_MS ? 3 : masked ? 4 : 1);
    }
}

#define OWN 15u /* the function prof_drain */

/* As often as all else is sampled: prof_drain, and helper that it calls. */
static void put_own(struct made *made)
{
    made_node(made, STACKS + 1, 1, TEXT + OWN * FUNCTION_BYTES + OFFSET);
    made_node(made, STACKS + 2, STACKS + 1, TEXT + 2 * FUNCTION_BYTES + OFFSET);
    for (int i = 0; i < 200; ++i)
        made_sample(made, STACKS + 1 + (uint32_t)i % 2);
}

static bool has(int argc, char **argv, const char *option)
{
    for (int i = 1; i < argc; ++i)
        if (strcmp(argv[i], option) == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    static struct made made = {.packet_room = PROF_PACKET_DEFAULT, .boot = 9};
    uint32_t times = has(argc, argv, "--more")   ? 2
                     : has(argc, argv, "--none") ? 0
                                                 : 1;
    uint32_t divisor = has(argc, argv, "--few") ? 10 : 1;

    if (has(argc, argv, "--outside")) {
        made.boot = 8;
        made.time = AHEAD - 100 * MS;
    }
    made_hello(&made, 64);
    made_start(&made, has(argc, argv, "--outside") ? 500000 : 1000000, 64);
    if (has(argc, argv, "--outside"))
        put_outside(&made);
    else if (has(argc, argv, "--deep"))
        put_deep(&made);
    else
        put_stacks(&made, times, divisor, has(argc, argv, "--stolen"));
    if (has(argc, argv, "--own"))
        put_own(&made);
    made.step = 0;
    made_word(&made, PROF_EVENT_BYE, 0);
    made_flush(&made);
    fwrite(made.bytes, 1, made.count, stdout);
    return 0;
}
