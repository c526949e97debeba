/* SPDX-License-Identifier: Apache-2.0 */

/* prof_visit() and prof_visit_stacks(): access to the raw profile. */

#include "base/busy.h"
#include "aggregate/functions.h"
#include "aggregate/stacks.h"
#include "aggregate/sums.h"

#include <prof/config.h>

void prof_visit(void (*visit)(const struct prof_row *row, void *context),
                void *context)
{
    prof_enter();
    (void)prof_sums();
    for (uint32_t i = 1; i < prof_functions.used; i++) {
        const struct prof_function *function = prof_function_at(i);
        const struct prof_row row = {
            .address = function->record.key,
            .samples = function->self.samples,
            .cycles = function->self.cycles,
            .named = prof_function_is_named(function),
        };

        if (row.samples != 0)
            visit(&row, context);
    }
    prof_leave();
}

void prof_visit_stacks(void (*visit)(const struct prof_stack_row *row,
                                     void *context),
                       void *context)
{
    uintptr_t addresses[PROF_STACK_MAX];

    prof_enter();
    for (uint32_t i = 1; PROF_WITH_TREES && i < prof_stacks.used; i++) {
        const struct prof_stack *stack = prof_stack_at(i);
        struct prof_stack_row row = {
            .addresses = addresses,
            .samples = stack->self.samples,
            .cycles = stack->self.cycles,
            .first_tsc = stack->first_tsc,
            .last_tsc = stack->last_tsc,
        };

        if (row.samples == 0)
            continue;
        for (; stack != prof_stack_at(0) && row.count < PROF_STACK_MAX;
             stack = prof_stack_at(stack->record.parent))
            addresses[row.count++] = stack->record.key;
        visit(&row, context);
    }
    prof_leave();
}
