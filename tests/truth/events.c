/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is executed: interrupts begin and end, calls are made and return, blocks
 * are entered. What was executed in an interrupt is the difference between all
 * counts at its end and its begin.
 */

#include "events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct truth truth;

static uint64_t all_at_entry;
static bool in_handler;
static bool in_thief;       /* which is one of these, and no tick */
static bool leaving;        /* by iret; over when the next block begins */
static bool after_return;   /* the next block is where a return leads */
static unsigned after_tick; /* ticks that have interrupted the next block */
static uint64_t opened;     /* (all) after which a tick has waited for it */

uint64_t truth_clock(void)
{
    return truth.all - truth.in_handlers;
}

/* ---- with interrupts off
 *
 * A tick that is due then comes after the sti or popf that turns them on, and
 * is a sample of the function that this stands in.
 *
 * It begins with cli. A popf is taken to turn interrupts on: who uses it to
 * give them back where they were off before would be counted too little.
 */

static bool off;
static uint64_t since;              /* the clock, at the cli */
static const struct block *running; /* the last one that began */
static struct function *seen_off;   /* those of the blocks since the cli */

/* Only functions of blocks that began since the cli have executed anything:
 * to look at all of them at each cli would take most of the run's time. */
static void see(const struct block *block)
{
    for (size_t i = 0; i < block->insns; ++i) {
        struct function *function = block->of[i];

        if (function->is_seen_off)
            continue;
        function->is_seen_off = true;
        function->own_at_cli = truth_own(function);
        function->next_seen_off = seen_off;
        seen_off = function;
    }
}

/* A block begins. */
static void masked_block(const struct block *block)
{
    running = block;
    if (off)
        see(block);
}

/* Interrupts are turned off in the block that began last. */
static void masked_begin(void)
{
    if (off)
        return;
    off = true;
    since = truth_clock();
    see(running);
}

/* They are turned on by (opens). */
static void masked_end(struct function *opens)
{
    if (!off)
        return;
    off = false;
    opens->opened += truth_clock() - since;
    for (; seen_off != NULL; seen_off = seen_off->next_seen_off) {
        seen_off->masked += truth_own(seen_off) - seen_off->own_at_cli;
        seen_off->is_seen_off = false;
    }
}

/* ---- interrupts that are not the sampler's
 *
 * A network device's, for instance. What they execute is code like any other,
 * below the calls that they interrupt. They may come between a return and where
 * it leads, or between a tick and what it has interrupted; so what is still to
 * be said there waits for their end.
 */

#define TRAPS_MAX 64u
#define NESTED_MAX 16u

static uint64_t traps[TRAPS_MAX];
static size_t traps_count;

static struct {
    bool after_return;
    unsigned after_tick;
} kept[NESTED_MAX];
static size_t nested;
static bool leaving_trap;

bool traps_read(const char *text)
{
    char *end;

    do {
        if (traps_count == TRAPS_MAX)
            return false;
        traps[traps_count++] = strtoull(text, &end, 16);
        text = end + 1;
    } while (*end == '+');
    return *end == '\0';
}

bool traps_begin_at(uint64_t address)
{
    size_t i = 0;

    while (i < traps_count && traps[i] != address)
        ++i;
    return i < traps_count;
}

/* One begins: takes over what is pending. */
static void traps_enter(void)
{
    if (nested == NESTED_MAX) {
        fputs("truth: interrupts are nested too deep\n", stderr);
        abort();
    }
    kept[nested].after_return = after_return;
    kept[nested].after_tick = after_tick;
    ++nested;
    after_return = false;
    after_tick = 0;
}

/* An iret is about to be executed that is not the sampler's. */
static void traps_leave(void)
{
    leaving_trap = nested > 0;
}

/* Another block begins: gives back what was pending if one has ended. */
static void traps_end_returned(void)
{
    if (!leaving_trap)
        return;
    leaving_trap = false;
    --nested;
    after_return = kept[nested].after_return;
    after_tick += kept[nested].after_tick;
}

/* ---- what the plugin is called for */

void on_stop(unsigned vcpu, void *owner)
{
    (void)vcpu, (void)owner;
    truth.stopped = true;
    ideals_end();
}

void on_mark(unsigned vcpu, void *owner)
{
    (void)vcpu, (void)owner;
    if (truth.marks_count == MARKS_MAX) {
        fputs("truth: too many marks\n", stderr);
        abort();
    }
    truth.marks[truth.marks_count].ticks = truth.ticks;
    truth.marks[truth.marks_count++].masked = truth.masked;
}

void on_cli(unsigned vcpu, void *owner)
{
    (void)vcpu, (void)owner;
    if (!in_handler)
        masked_begin();
}

/* A tick that waits gets in after the instruction after sti ... */
void on_sti(unsigned vcpu, void *owner)
{
    (void)vcpu;
    opened = truth.all + 2;
    if (!in_handler)
        masked_end(owner);
}

/* ... and after popf at once. */
void on_popf(unsigned vcpu, void *owner)
{
    (void)vcpu;
    opened = truth.all + 1;
    if (!in_handler)
        masked_end(owner);
}

/* What waits for the interrupt itself has not kept it waiting. */
void on_halt(unsigned vcpu, void *owner)
{
    (void)vcpu, (void)owner;
    opened = 0;
}

static void begin_interrupt(void)
{
    for (size_t i = 0; i < truth.count; ++i)
        truth.functions[i].executed_at_entry = truth.functions[i].executed;
    all_at_entry = truth.all;
    in_handler = true;
}

void on_tick(unsigned vcpu, void *owner)
{
    (void)vcpu, (void)owner;
    for (size_t i = 0; i < truth.count && !truth.stopped; ++i) {
        struct function *function = &truth.functions[i];

        function->self[truth.ticks > 0] = truth_own(function);
        function->total[truth.ticks > 0] = calls_total(function);
        function->masked_at[truth.ticks > 0] = function->masked;
        function->opened_at[truth.ticks > 0] = function->opened;
    }
    if (!truth.stopped)
        truth.all_at[truth.judged++ > 0] = truth.all;
    if (truth.ticks++ == 0) {
        truth.unmatched_then = calls_unmatched();
        truth.left_then = calls_left();
        ideals_begin(truth.stopped ? 0 : truth.period);
    }
    truth.masked += truth.all == opened;
    begin_interrupt();
}

/* The iret itself is still to be executed. */
void on_iret(unsigned vcpu, void *owner)
{
    (void)vcpu, (void)owner;
    leaving = in_handler;
    if (!in_handler)
        traps_leave();
}

static void end_interrupt(void)
{
    for (size_t i = 0; i < truth.count; ++i)
        truth.functions[i].handler +=
            truth.functions[i].executed - truth.functions[i].executed_at_entry;
    truth.in_handlers += truth.all - all_at_entry;
    if (in_thief)
        truth.stolen += truth.all - all_at_entry;
    else
        ++after_tick;
    in_handler = in_thief = leaving = false;
}

/* Interrupts are over when the block after their iret begins. */
static void end_returned(void)
{
    if (leaving)
        end_interrupt();
    traps_end_returned();
}

void on_thief(unsigned vcpu, void *owner)
{
    (void)vcpu, (void)owner;
    end_returned();
    ++truth.thefts;
    in_thief = true;
    begin_interrupt();
}

/* The first thing in the block where another interrupt begins. */
void on_trap(unsigned vcpu, void *owner)
{
    (void)vcpu, (void)owner;
    end_returned();
    if (!in_handler)
        traps_enter();
}

void on_call(unsigned vcpu, void *owner)
{
    (void)vcpu;
    if (!in_handler)
        calls_push(owner);
}

void on_return(unsigned vcpu, void *owner)
{
    (void)vcpu, (void)owner;
    if (!in_handler)
        after_return = true;
}

/* The first thing in every block, which is (owner). What is still to be
 * said of it waits while it is interrupted again. */
void on_block(unsigned vcpu, void *owner)
{
    const struct block *block = owner;
    uint64_t address = block->address;

    (void)vcpu;
    end_returned();
    if (in_handler || address == truth.enter)
        return;
    masked_block(block);
    if (after_return)
        calls_return(address);
    after_return = false;
    for (; after_tick > 0; --after_tick) {
        fprintf(truth.tick_lines, "%" PRIx64, address);
        calls_print(truth.tick_lines);
        putc('\n', truth.tick_lines);
    }
    if (truth_clock() + block->insns > ideals_due)
        ideals_take(truth_clock() + block->insns, block->of);
}
