/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAUSAL_CPUS_PROGRAMS_H
#define CAUSAL_CPUS_PROGRAMS_H

/*
 * Three programs on two CPUs: loops that share nothing, a queue of work, and a
 * lock. A part of each really is faster, or is so on virtual clocks
 * (cpus_clocks.h). The file that includes this defines machine_compute().
 */

#include "cpus_clocks.h"

static void machine_compute(uint32_t ns);

#define ROOM 4u /* in the queue */

/* ---- what the programs do at present */

struct part {
    const char *name;
    uint32_t us;
};

struct way {
    bool clocked;     /* there are virtual clocks */
    const void *part; /* which is */
    uint32_t faster;  /* on them, or else */
    uint32_t really;
};

static const struct way *volatile way; /* from the next unit of work on */
static volatile bool stopped;
static volatile uint32_t done[CLOCKS]; /* units of work */
static uint32_t drawn[CLOCKS];         /* the last random numbers */

/* Half as long as (part) takes on average to half as much more. */
static uint32_t drawn_ns(const struct part *part)
{
    uint32_t *state = &drawn[machine_cpu()];
    const uint32_t ns = part->us * 1000;

    *state = *state * 1664525u + 1013904223u;
    return ns / 2 + (uint32_t)((uint64_t)ns * *state >> 32);
}

static void compute(const struct way *now, const struct part *part)
{
    const uint32_t ns = drawn_ns(part);

    if (now->part != part) {
        machine_compute(ns);
    } else if (now->clocked) {
        clocks_enter(now->faster);
        machine_compute(ns);
        clocks_leave();
    } else {
        machine_compute(
            (uint32_t)((uint64_t)ns * (CLOCKS_ONE - now->really) / CLOCKS_ONE));
    }
}

static void pay(const struct way *now, struct clocks_stamp *stamp)
{
    if (now->clocked)
        clocks_pay(stamp);
}

static void progress(const struct way *now)
{
    struct clocks_stamp stamp;

    pay(now, &stamp);
    done[machine_cpu()]++;
}

/* The caller has waited since (began), 0: it has not, and sees what was done at
 * (by). */
static void see(const struct way *now, uint64_t began,
                const struct clocks_stamp *by)
{
    if (!now->clocked)
        return;
    if (began != 0)
        clocks_waited(began, by);
    clocks_check(by);
}

/* Waits while (*what) is (value). Returns since when, or 0; at the end, too. */
static uint64_t wait_while(volatile uint32_t *what, uint32_t value)
{
    uint64_t began = machine_tsc();

    if (__atomic_load_n(what, __ATOMIC_ACQUIRE) != value)
        return 0;
    while (__atomic_load_n(what, __ATOMIC_ACQUIRE) == value && !stopped)
        machine_pause();
    return began;
}

/* ---- nothing is shared */

static const struct part part_f = {"F", 40}, part_rest = {"rest", 60},
                         part_other = {"other", 90};

static void alone_0(const struct way *now)
{
    compute(now, &part_f);
    compute(now, &part_rest);
    progress(now);
}

static void alone_1(const struct way *now)
{
    compute(now, &part_other);
    progress(now);
}

/* ---- a queue of work */

static const struct part part_make = {"make", 60}, part_use = {"use", 50};

static struct place {
    volatile uint32_t full;
    struct clocks_stamp stamp; /* of the last change */
} queue[ROOM];
static unsigned queue_at[CLOCKS]; /* the next place */

static void queue_0(const struct way *now)
{
    const unsigned cpu = machine_cpu();
    struct place *place = &queue[queue_at[cpu]];
    struct clocks_stamp stamp = {0};
    uint64_t waited;

    compute(now, &part_make);
    pay(now, &stamp);
    waited = wait_while(&place->full, 1);
    if (stopped)
        return;
    see(now, waited, &place->stamp);
    pay(now, &place->stamp);
    __atomic_store_n(&place->full, 1, __ATOMIC_RELEASE);
    queue_at[cpu] = (queue_at[cpu] + 1) % ROOM;
}

static void queue_1(const struct way *now)
{
    const unsigned cpu = machine_cpu();
    struct place *place = &queue[queue_at[cpu]];
    struct clocks_stamp stamp = {0};
    uint64_t waited;

    pay(now, &stamp);
    waited = wait_while(&place->full, 0);
    if (stopped)
        return;
    see(now, waited, &place->stamp);
    pay(now, &place->stamp);
    __atomic_store_n(&place->full, 0, __ATOMIC_RELEASE);
    queue_at[cpu] = (queue_at[cpu] + 1) % ROOM;
    compute(now, &part_use);
    progress(now);
}

/* ---- a lock */

static const struct part part_outside = {"outside", 60},
                         part_inside = {"inside", 30};
static volatile uint32_t locked;
static struct clocks_stamp unlocked;

static void take_lock(const struct way *now)
{
    struct clocks_stamp stamp = {0};
    uint64_t began = 0;

    pay(now, &stamp);
    while (__atomic_exchange_n(&locked, 1, __ATOMIC_ACQUIRE) != 0) {
        if (began == 0)
            began = machine_tsc();
        while (locked != 0)
            machine_pause();
    }
    see(now, began, &unlocked);
}

static void give_lock(const struct way *now)
{
    pay(now, &unlocked);
    __atomic_store_n(&locked, 0, __ATOMIC_RELEASE);
}

static void lock_both(const struct way *now)
{
    compute(now, &part_outside);
    take_lock(now);
    compute(now, &part_inside);
    give_lock(now);
    progress(now);
}

/* ---- all of them */

static const struct program {
    const char *name;
    void (*run[CLOCKS])(const struct way *now);
    const struct part *targets[2];
} programs[] = {
    {"nothing is shared", {alone_0, alone_1}, {&part_f, &part_other}},
    {"a queue", {queue_0, queue_1}, {&part_make, &part_use}},
    {"a lock", {lock_both, lock_both}, {&part_inside, &part_outside}},
};
#define PROGRAMS (sizeof programs / sizeof *programs)

/* While no program runs. */
static void programs_reset(void)
{
    clocks_reset();
    stopped = false;
    locked = 0;
    unlocked = (struct clocks_stamp){0};
    for (unsigned i = 0; i < ROOM; i++)
        queue[i] = (struct place){0};
    for (unsigned i = 0; i < CLOCKS; i++) {
        drawn[i] = i;
        queue_at[i] = done[i] = 0;
    }
}

/* What the second CPU does until it is stopped. */
static void programs_run_second(const struct program *program)
{
    while (!stopped)
        program->run[1](way);
}

/* Of a number of units of work. */
struct turn {
    uint64_t cycles; /* virtual time, */
    uint64_t first;  /* and real time of the first CPU in the target */
    uint32_t visits;
};

static uint64_t moment(const struct way *now)
{
    struct clocks_stamp stamp = {0};

    pay(now, &stamp);
    return now->clocked ? stamp.time : machine_tsc();
}

static void run_until(const struct program *program, uint32_t wanted)
{
    const uint32_t from = done[0] + done[1];

    while (done[0] + done[1] - from < wanted)
        program->run[0](way);
}

/* On the first CPU: adds to *turn. A third of (visits) comes before. */
static void programs_take_turn(const struct program *program,
                               const struct way *now, uint32_t visits,
                               struct turn *turn)
{
    uint64_t began, inside;
    uint32_t from;

    way = now;
    run_until(program, visits / 3);
    began = moment(now);
    inside = clocks[0].in_target;
    from = done[0] + done[1];
    run_until(program, visits);
    turn->cycles += moment(now) - began;
    turn->first += clocks[0].in_target - inside;
    turn->visits += done[0] + done[1] - from;
}

#endif
