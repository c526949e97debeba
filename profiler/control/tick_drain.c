/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The drain in the interrupt, for programs that never yield. It needs more
 * stack than an interrupt may take of whoever was interrupted, so it has one of
 * its own.
 */

#include "base/alloc.h"
#include "base/busy.h"
#include "base/cpu.h"
#include "control/builtin.h"
#include "profile/drain.h"
#include "sample/cpu_state.h"
#include "stream/stream.h"
#include "tick/clock.h"
#include "tick/message.h"

#include <prof/causal.h>
#include <prof/loop.h>
#include <prof/port.h>
#include <prof/prof.h>
#include <prof/trace.h>

#define LATE 2u /* times prof_drain_ms() */

static char *stack_end; /* NULL: no drain in the tick */

/* Calls (function) on the stack that ends at (end). */
static void call_on(char *end, void (*function)(void))
{
#ifdef __x86_64__
    __asm__ volatile("mov %%rsp, %%rbx; mov %0, %%rsp; call *%1;"
                     "mov %%rbx, %%rsp"
                     : "+r"(end), "+r"(function)
                     :
                     : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9",
                       "r10", "r11", "memory", "cc");
#else
    __asm__ volatile("mov %%esp, %%esi; mov %0, %%esp; call *%1;"
                     "mov %%esi, %%esp"
                     : "+d"(end), "+c"(function)
                     :
                     : "eax", "esi", "memory", "cc");
#endif
}

/* What the program does with these it does without prof_enter(); and the
 * stream's transport may be in use. */
static bool others_may_be_in(void)
{
    return prof_stream_on() || prof_loop_is_on() ||
           prof_trace_mode() != PROF_TRACE_OFF || prof_causal_running();
}

static void drain_in_tick(void)
{
    uint64_t begin = prof_tsc();

    if (prof_busy != 0 || others_may_be_in() ||
        begin - prof_drain_ended() < prof_clock_cycles(LATE * prof_drain_ms()))
        return;
    call_on(stack_end, prof_drain_in_tick);
    /* the interrupt counts all of its time; this is in another account */
    prof_cpus[0].observed_cycles += prof_tsc() - begin;
}

bool prof_tick_drain_open(void)
{
    char *stack = prof_pool_in_use() ? prof_alloc(PROF_STACK_BYTES) : NULL;

    if (stack == NULL) {
        prof_message("prof: config.tick_drains needs config.pool\n");
        return false;
    }
    stack_end = stack + PROF_STACK_BYTES;
    prof_cpus[0].tick_drain = drain_in_tick;
    return true;
}
