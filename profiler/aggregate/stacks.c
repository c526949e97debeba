/* SPDX-License-Identifier: Apache-2.0 */

#include "aggregate/stacks.h"

#include "base/alloc.h"
#include "aggregate/addresses.h"
#include "aggregate/calls.h"
#include "aggregate/functions.h"
#include "aggregate/image.h"

#include <prof/config.h>
#include <prof/origin.h>

struct prof_table prof_stacks;

/*
 * The callers that were looked up last. Callers that are not recent ones
 * (recent.h) still share most of their outer part with these, and comparing
 * words is cheaper than hash lookups. Index 0 is the outermost.
 */
static struct {
    uint32_t length;  /* words */
    uint32_t outside; /* of these up to the innermost that is not code: no
                         callers */
    uint32_t *words;  /* PROF_DEPTH_MAX; allocated when there are any */
    uint32_t *stacks; /* as many: of all callers up to each word */
} last;

void prof_stacks_open(void)
{
    prof_addresses_open();
    prof_functions_open();
    if (PROF_HAS_CALLS)
        prof_calls_open();
    prof_stacks = PROF_TABLE(struct prof_stack);
    last.length = last.outside = 0;
    last.words = last.stacks = NULL;
}

#ifdef PROF_HOSTED
void prof_stacks_forget(void)
{
    if (last.words != NULL)
        prof_free(last.words);
    last.words = NULL;
}
#endif

static bool reserve_last(void)
{
    size_t bytes = PROF_DEPTH_MAX * sizeof *last.words;

    if (last.words != NULL)
        return true;
    last.words = prof_alloc(2 * bytes);
    last.stacks = last.words + PROF_DEPTH_MAX;
    prof_stacks.refusals += last.words == NULL;
    return last.words != NULL;
}

/* The number of words that the callers at (frames) share with the last ones. */
static uint32_t count_common(const uint32_t *frames, uint32_t count)
{
    uint32_t most = count < last.length ? count : last.length, at = 0;
    const uint32_t *word = frames + count;

    while (at < most && last.words[at] == *--word)
        at++;
    return at;
}

static uint32_t count_code(const uint32_t *frames, uint32_t count)
{
    uint32_t code = 0;

    while (code < count && prof_is_code_word(frames[code]))
        code++;
    return code;
}

uint32_t prof_stack_in(uint32_t *slot, uint32_t parent, uintptr_t address,
                       uint32_t function)
{
    uint32_t number = *slot, call;

    if (number != 0)
        return number;
    if (PROF_WITH_CALLERS && function == 0)
        function = prof_address_calling_function(address);
    call = function;
    if (PROF_HAS_CALLS && function != 0)
        call = prof_call_of(prof_stack_at(parent)->record.link, function);
    if (call == 0)
        return 0;
    number = prof_table_add(&prof_stacks, sizeof(struct prof_stack), slot,
                            parent, address);
    if (number != 0)
        prof_stack_at(number)->record.link = call;
    return number;
}

bool prof_stack_of_callers(const uint32_t *frames, uint32_t count,
                           struct prof_callers *callers)
{
    const uint32_t base = (uint32_t)prof_image.text_base;
    uint32_t at, code, stack = 0;

    if (!PROF_WITH_CALLERS || !reserve_last())
        return false;
    at = count_common(frames, count);
    if (at < last.outside)
        at = 0;
    if (at == 0)
        last.outside = 0;
    code = count_code(frames, count - at);
    if (code < count - at)
        last.outside = count - code;
    for (; at < last.outside; at++)
        last.words[at] = frames[count - 1 - at];
    if (at > last.outside)
        stack = last.stacks[at - 1];
    for (last.length = at; at < count; last.length = ++at) {
        uint32_t word = frames[count - 1 - at];
        uintptr_t caller = prof_image.text_base + (word - base);

        stack = prof_stack_of(stack, prof_origin(caller), 0);
        if (stack == 0)
            return false;
        last.words[at] = word;
        last.stacks[at] = stack;
    }
    callers->stack = stack;
    callers->frames = (uint8_t)count;
    callers->count = (uint8_t)(count - last.outside);
    return true;
}

_Static_assert(offsetof(struct prof_record, key) ==
                       offsetof(struct prof_stream_node, address) &&
                   offsetof(struct prof_record, parent) ==
                       offsetof(struct prof_stream_node, parent) &&
                   offsetof(struct prof_stack, emitted) ==
                       offsetof(struct prof_stream_node, note),
               "a stack begins like a node of the stream");

struct prof_stream_node *prof_stacks_find(uint32_t number)
{
    if (!PROF_WITH_STREAM || number == 0 || number >= prof_stacks.used)
        return NULL;
    return prof_stack_node(prof_stack_at(number));
}

void prof_stacks_clear(void)
{
    for (uint32_t i = 1; i < prof_stacks.used; i++)
        prof_stack_at(i)->self = (struct prof_amount){0};
}
