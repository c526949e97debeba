/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is executed while interrupts are off: a tick that is due then comes
 * behind the sti or popf that turns them on, and is a sample of the function
 * that this stands in.
 *
 * It begins with cli. A popf is taken to turn interrupts on: who uses it to
 * give them back where they were off before would be counted too little.
 */

#include "truth.h"

static bool off;
static uint64_t since; /* the clock, at the cli */

void masked_begin(struct function *functions, size_t count)
{
    if (off)
        return;
    off = true;
    since = truth_clock();
    for (size_t i = 0; i < count; ++i)
        functions[i].own_at_cli = truth_own(&functions[i]);
}

void masked_end(struct function *functions, size_t count,
                struct function *opens)
{
    if (!off)
        return;
    off = false;
    opens->opened += truth_clock() - since;
    for (size_t i = 0; i < count; ++i)
        functions[i].masked +=
            truth_own(&functions[i]) - functions[i].own_at_cli;
}
