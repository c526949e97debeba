/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is executed: interrupts begin and end, calls are made and return, blocks
 * are entered. What was executed in an interrupt is the difference between all
 * counts at its end and its begin.
 */

#include "events.h"

#include "masked.h"
#include "traps.h"

#include <inttypes.h>
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
    traps_end_returned(&after_return, &after_tick);
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
        traps_enter(&after_return, &after_tick);
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
