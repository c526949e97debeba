/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that have not returned yet, without looking at the guest's stack.
 *
 * A call pushes its return address, so the target of a return identifies the
 * call that has ended. A longjmp returns to where setjmp returned before: to a
 * function that is still waiting for another call.
 */

#include "truth.h"

#include <inttypes.h>
#include <stdlib.h>

#define CALLS_MAX 65536u /* a guest's stack holds fewer */

static struct call calls[CALLS_MAX];
static size_t depth;
static uint64_t unmatched, left, jumped;

void calls_push(const struct call *call)
{
    struct function *caller = call->caller;

    if (depth == CALLS_MAX) {
        fputs("truth: calls are nested too deep\n", stderr);
        abort();
    }
    calls[depth++] = *call;
    if (caller->pending++ == 0) {
        caller->since = truth_clock();
        caller->own_then = truth_own(caller);
    }
}

static void pop(void)
{
    struct function *caller = calls[--depth].caller;

    if (--caller->pending == 0) {
        caller->called += truth_clock() - caller->since;
        caller->covered += truth_own(caller) - caller->own_then;
    }
}

/* Ends the calls down to the one numbered (at), counted from 1. */
static uint64_t end_down_to(size_t at)
{
    uint64_t ended = depth - at + 1;

    while (depth >= at)
        pop();
    return ended;
}

void calls_return(uint64_t address)
{
    const struct function *function;
    size_t at = depth, waiting = depth;

    while (at > 0 && calls[at - 1].back != address)
        --at;
    if (at > 0) {
        left += end_down_to(at) - 1;
        return;
    }
    function = truth_function_at(address);
    while (waiting > 0 && calls[waiting - 1].caller != function)
        --waiting;
    if (waiting > 0)
        jumped += end_down_to(waiting);
    else
        ++unmatched;
}

uint64_t calls_unmatched(void)
{
    return unmatched;
}

uint64_t calls_left(void)
{
    return left;
}

uint64_t calls_jumped(void)
{
    return jumped;
}

uint64_t calls_total(const struct function *function)
{
    uint64_t called = function->called, covered = function->covered;

    if (function->pending > 0) {
        called += truth_clock() - function->since;
        covered += truth_own(function) - function->own_then;
    }
    return called + truth_own(function) - covered;
}

size_t calls_depth(void)
{
    return depth;
}

struct function *calls_caller(size_t at)
{
    return calls[at].caller;
}

void calls_print(FILE *out)
{
    for (size_t i = depth; i > 0; --i)
        fprintf(out, " %" PRIx64, calls[i - 1].back);
}
