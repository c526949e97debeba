/* SPDX-License-Identifier: Apache-2.0 */

/* Replaces prologue.c if PROF_WITH_CALLERS is 0 (<prof/config.h>). */

#include "unwind/prologue.h"

#include <prof/config.h>

#if PROF_WITH_CALLERS
#error "this is compiled only without callers; see tools/build/sources.py"
#endif

uint32_t prof_prologue_steps;

void prof_prologue_learn(const struct prof_range *function,
                         const struct prof_range *text, uint32_t *framed)
{
    (void)function;
    (void)text;
    *framed = PROF_PROLOGUE_UNSURE;
}

uint32_t prof_prologue_caller(uintptr_t pc, const struct prof_range *function,
                              const struct prof_range *text, uint32_t *framed)
{
    (void)pc;
    (void)function;
    (void)text;
    (void)framed;
    return PROF_PROLOGUE_FRAME;
}
