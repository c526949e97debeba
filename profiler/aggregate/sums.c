/* SPDX-License-Identifier: Apache-2.0 */

#include "aggregate/sums.h"

#include "base/options.h"
#include "aggregate/accounts.h"
#include "aggregate/addresses.h"
#include "aggregate/calls.h"
#include "aggregate/functions.h"
#include "aggregate/instruction_class.h"
#include "aggregate/stacks.h"
#include "tick/clock.h"

#include <prof/config.h>

static struct prof_sums sums;
static uint64_t summed;         /* samples that had been drained then */
static enum prof_weight weight; /* prof.weight then */
static bool up_to_date;
static bool expired; /* addresses are to be counted anew */

/* The number of the function that prof.vmm names, 0 if it was not sampled yet.
 * Searched by name until it is found, then remembered. */
static uint32_t find_vmm(void)
{
    static uint32_t known;

    if (!PROF_WITH_CLASSES || PROF_OPTION(vmm)[0] == '\0')
        return 0;
    if (known == 0)
        known = prof_function_named(PROF_OPTION(vmm), 0);
    return known;
}

uint64_t prof_sums_weight(const struct prof_amount *amount)
{
    return weight == PROF_WEIGHT_TIME ? amount->cycles : amount->samples;
}

/* Samples only grow until a reset, so that an address that was counted stays
 * so. */
static void clear_addresses(void)
{
    struct prof_address *address = NULL;

    sums.addresses = 0;
    for (uint32_t i = 0; i < prof_addresses.used; i++) {
        address = PROF_TABLE_NEXT(&prof_addresses, address, i);
        address->counted = 0;
    }
    expired = false;
}

static void clear(bool addresses)
{
    struct prof_function *function = NULL;
    struct prof_call *call = NULL;

    sums = (struct prof_sums){.addresses = sums.addresses};
    for (uint32_t i = 0; i < prof_functions.used; i++) {
        function = PROF_TABLE_NEXT(&prof_functions, function, i);
        function->self = (struct prof_amount){0};
        function->total = 0;
        if (PROF_WITH_CLASSES)
            function->vm_exit = function->masked = 0;
    }
    for (uint32_t i = 0; PROF_HAS_CALLS && i < prof_calls.used; i++) {
        call = PROF_TABLE_NEXT(&prof_calls, call, i);
        call->self = (struct prof_amount){0};
        call->total = 0;
    }
    if (addresses)
        clear_addresses();
}

static void add_classes(struct prof_function *function, uint32_t classes,
                        const struct prof_amount *self)
{
    if ((classes & PROF_INSTRUCTION_VM_EXIT) != 0) {
        prof_amount_add(&sums.vm_exit, self->samples, self->cycles);
        function->vm_exit += prof_sums_weight(self);
    }
    if ((classes & PROF_INSTRUCTION_ENABLES_INTERRUPTS) != 0 &&
        !prof_clock.by_nmi) {
        prof_amount_add(&sums.masked, self->samples, self->cycles);
        function->masked = 1;
    }
}

/* Adds what a stack's samples are besides samples, and looks at their address
 * where that was not done. */
static void add_special(const struct prof_stack *stack,
                        struct prof_address *address, uint32_t vmm)
{
    uint32_t number = address->record.link;
    uint32_t classes = PROF_WITH_CLASSES ? prof_instruction_class(address) : 0;

    if (PROF_WITH_CALLERS && address->pending != 0)
        (void)prof_address_caller(address);
    sums.addresses += !address->counted;
    address->counted = 1;
    if (vmm != 0 && number == vmm)
        classes |= PROF_INSTRUCTION_VM_EXIT;
    if (PROF_WITH_CLASSES && classes != 0 &&
        !(PROF_HAS_CALLS && prof_call_is_own(stack->record.link)))
        add_classes(prof_function_at(number), classes, &stack->self);
}

static struct prof_amount *sum_of(uint32_t link)
{
    return PROF_HAS_CALLS ? &prof_call_at(link)->self
                          : &prof_function_at(link)->self;
}

/* Adds each stack's samples to its call's; those of functions and of callers
 * are sums over calls, of which there are fewer. Most addresses are known and
 * of no class; with prof.vmm none counts as known (clear()). */
static void add_stacks(uint32_t vmm)
{
    const struct prof_stack *stack = prof_stack_at(0);
    struct prof_amount *sum = NULL;
    uint32_t link = 0; /* whose sum: new stacks are often in the same call */

    for (uint32_t i = 1; i < prof_stacks.used; i++) {
        struct prof_address *address;

        stack = PROF_TABLE_NEXT(&prof_stacks, stack, i);
        if (stack->self.samples == 0)
            continue;
        address = prof_address_at(stack->address);
        if (link != stack->record.link)
            sum = sum_of(link = stack->record.link);
        if (!PROF_HAS_CALLS)
            sums.functions += sum->samples == 0;
        prof_amount_add(sum, stack->self.samples, stack->self.cycles);
        if (!address->counted || (PROF_WITH_CALLERS && address->pending != 0) ||
            (PROF_WITH_CLASSES &&
             address->instructions != PROF_INSTRUCTION_KNOWN))
            add_special(stack, address, vmm);
    }
}

/* Adds (self) to what is the profiler's own, and makes it nothing. */
static void take_own(struct prof_amount *self, bool named)
{
    prof_amount_add(&sums.own, self->samples, self->cycles);
    if (!named)
        prof_amount_add(&sums.own_unnamed, self->samples, self->cycles);
    *self = (struct prof_amount){0};
}

/* Adds the total of each call to its caller's and to its function's. Parents
 * have lower numbers, so one pass backwards suffices. Recursive calls are part
 * of the outermost one and are not added to the function again. The profiler's
 * own are in none of these. */
static void add_calls(void)
{
    struct prof_call *call = NULL;

    for (uint32_t i = prof_calls.used; PROF_HAS_CALLS && i > 1; i--) {
        struct prof_function *function;

        call = PROF_TABLE_BEFORE(&prof_calls, call, i - 1);
        function = prof_function_at((uint32_t)call->record.key);
        if ((call->record.link & PROF_CALL_OWN) != 0)
            take_own(&call->self, prof_function_is_named(function));
        sums.functions += function->self.samples == 0 && call->self.samples;
        prof_amount_add(&function->self, call->self.samples, call->self.cycles);
        call->total += prof_sums_weight(&call->self);
        prof_call_at(call->record.parent)->total += call->total;
        if ((call->record.link & PROF_CALL_OUTERMOST) != 0)
            function->total += call->total;
    }
}

const struct prof_sums *prof_sums(void)
{
    uint64_t now = 0;
    uint32_t vmm;

    PROF_FOR_EACH_CPU (cpu) {
        const struct prof_amount *drained = prof_accounts_of(cpu)->drained;

        now += drained[PROF_CLASS_ATTRIBUTED].samples +
               drained[PROF_CLASS_UNRESOLVED].samples +
               (PROF_WITH_USER ? drained[PROF_CLASS_USER].samples : 0);
    }
    if (up_to_date && weight == PROF_OPTION(weight) && summed == now)
        return &sums;
    vmm = find_vmm();
    clear(expired || vmm != 0);
    weight = PROF_OPTION(weight);
    add_stacks(vmm);
    add_calls();
    summed = now;
    up_to_date = true;
    return &sums;
}

void prof_sums_expire(void)
{
    up_to_date = false;
    expired = true;
}
