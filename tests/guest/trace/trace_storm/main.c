/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder of tasks at its limits; tests/storm reads what comes out. The
 * command line says which: do=NAME, one of the table at the end; at=NUMBER is
 * the interrupt in which something happens.
 */

#include "storm.h"

#include <arch/cpu.h>
#include <kernel/console.h>
#include <kernel/panic.h>
#include <kernel/service.h>
#include <kernel/task.h>
#include <prof/prof.h>
#include <prof/trace.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 100u
#define LONG_NAME 10000u

static char chosen[16];
static uint32_t thread_at_trigger, interrupts_at_trigger;

bool service_option(const char *key, const char *value)
{
    if (strcmp(key, "at") == 0)
        storm_at = (uint32_t)strtoul(value, NULL, 10);
    else if (strcmp(key, "do") == 0 && strlen(value) < sizeof chosen)
        strcpy(chosen, value);
    else
        return false;
    return true;
}

static void print_counts(void)
{
    struct prof_trace_stats stats;

    prof_trace_stats(&stats);
    console_line("storm: recorded %u, lost %u, dumps %u, cut %u",
                 (unsigned)stats.events, (unsigned)stats.lost,
                 (unsigned)stats.dumps, (unsigned)stats.names_cut);
    for (unsigned i = 0; i <= STORM_DEPTH; i++)
        console_line("storm: counter %u: %u", i, (unsigned)storm_count[i]);
}

/* The thread records and drains, (rounds) times. */
static void go_on(uint32_t rounds, void (*drain)(void))
{
    for (uint32_t i = 0; i < rounds; i++) {
        for (unsigned j = 0; j < 50; j++)
            storm_thread();
        drain();
    }
}

static void nothing(void)
{
}

/* Interrupts come faster than anything that the recorder knows, and the drain
 * keeps up with them if the ring is large. */
static void storm(void)
{
    storm_begin();
    go_on(ROUNDS, prof_drain);
    storm_end();
}

/* The ring is full, again and again, while an interrupt records. */
static void full(void)
{
    storm_is_noisy = true;
    storm_begin();
    for (unsigned i = 0; i < 8; i++) {
        go_on(ROUNDS, nothing);
        prof_drain();
    }
    storm_end();
}

/* ---- the flight recorder */

static void trigger(void)
{
    thread_at_trigger = storm_count[0];
    interrupts_at_trigger = storm_count[1];
    prof_trace_trigger();
}

/* An interrupt asks for a dump. Until the drain makes it, nothing is recorded,
 * so that it has what came before. */
static void triggered(void)
{
    storm_then = trigger;
    storm_begin();
    while (prof_trace_is_on())
        storm_thread();
    go_on(10, nothing);
    storm_end();
    prof_drain();
    console_line("storm: triggered at %u and %u", (unsigned)thread_at_trigger,
                 (unsigned)interrupts_at_trigger);
    console_line("storm: it %s", prof_trace_is_on() ? "goes on" : "is off");
}

static void dump(void)
{
    (void)prof_trace_dump();
}

/* It is dumped while interrupts record. */
static void dumped(void)
{
    storm_is_noisy = true;
    storm_begin();
    go_on(20, dump);
    storm_end();
}

static uintptr_t work(void *unused)
{
    (void)unused;
    while (!task_is_cancelled()) {
        prof_trace_label(prof_trace_current(), PROMISE_HERE("early bird"));
        task_yield();
    }
    return 0;
}

/* A task is older than all that the ring has. */
static void wrapped(void)
{
    struct promise *task = task_start("born first", work, NULL);

    for (unsigned i = 0; i < 10000; i++) {
        storm_thread();
        if (i % 1000 == 999)
            task_yield();
    }
    task_yield();
    dump();
    promise_cancel(task);
    (void)task_await(task);
}

/* ---- in the middle of an event */

static PROF_TRACE_SITE(site, "object");

static void some_calls(void)
{
    uint32_t object = prof_trace_create(PROF_TRACE_PROMISE, &site);

    storm_thread();
    prof_trace_try_read(object);
    prof_trace_label_text(object, "a label", 7);
    prof_trace_resolve(object);
    prof_trace_wake(object, object);
}

static void die(void)
{
    panic("in the middle of an event");
}

/* An interrupt after each instruction. */
static void stepped(void)
{
    for (unsigned i = 0; i < 20; i++) {
        (void)storm_steps(some_calls);
        prof_drain();
    }
}

#define ADDITIONS 10u

static void many_additions(void)
{
    for (unsigned i = 0; i < ADDITIONS; i++)
        storm_add();
}

/* An interrupt after each instruction of an addition adds to the same one. */
static void added(void)
{
    (void)storm_steps(many_additions);
    console_line("storm: additions %u", (unsigned)storm_added + ADDITIONS);
}

static void panicking(void)
{
    storm_then = die;
    for (unsigned i = 0; i < 100; i++)
        storm_thread();
    (void)storm_steps(storm_thread);
}

/* ---- names */

static char long_name[LONG_NAME + 1];

static void named(void)
{
    static PROF_TRACE_SITE(long_site, long_name);
    uint32_t object;

    /* a constant one, and texts that are copied */
    memset(long_name, 'n', LONG_NAME);
    object = prof_trace_create(PROF_TRACE_TASK, &long_site);
    prof_trace_label_text(object, long_name, LONG_NAME);
    memset(long_name + 50, 'm', LONG_NAME - 50);
    prof_trace_label_text(object, long_name, LONG_NAME);
    (void)prof_trace_create(PROF_TRACE_PROMISE, &long_site);
}

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {
    {"storm", storm},     {"full", full},    {"trigger", triggered},
    {"dump", dumped},     {"wrap", wrapped}, {"steps", stepped},
    {"panic", panicking}, {"names", named},  {"added", added},
};

int service_main(void)
{
    for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++) {
        if (strcmp(chosen, programs[i].name) != 0)
            continue;
        programs[i].run();
        prof_drain();
        print_counts();
        return 0;
    }
    console_line("storm: there is no \"%s\"", chosen);
    return 1;
}
