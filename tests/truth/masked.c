/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is executed while interrupts are off: a tick that is due then comes
 * after the sti or popf that turns them on, and is a sample of the function
 * that this stands in.
 *
 * It begins with cli. A popf is taken to turn interrupts on: who uses it to
 * give them back where they were off before would be counted too little.
 */

#include "masked.h"

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

void masked_block(const struct block *block)
{
    running = block;
    if (off)
        see(block);
}

void masked_begin(void)
{
    if (off)
        return;
    off = true;
    since = truth_clock();
    see(running);
}

void masked_end(struct function *opens)
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
