/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The drain in the interrupt, for programs that never yield. It needs more
 * stack than an interrupt may take of whoever was interrupted, so it has one of
 * its own.
 *
 * It waits until three quarters of a vector are used, so that a program that
 * does yield drains by itself. Then it takes portions that are short beside the
 * sampling period, one in a tick or fewer, until nothing is queued: no tick is
 * lost meanwhile, and the program has most of the time.
 */

#include "base/alloc.h"
#include "base/busy.h"
#include "base/cpu.h"
#include "base/options.h"
#include "control/control.h"
#include "aggregate/drain.h"
#include "sample/cpu_state.h"
#include "stream/stream.h"
#include "tick/clock.h"
#include "tick/source.h"

#include <prof/causal.h>
#include <prof/loop.h>
#include <prof/port.h>
#include <prof/prof.h>
#include <prof/trace.h>

#define LATE 2u       /* times prof_drain_ms() */
#define SHARE 4u      /* of the period: what a portion may take */
#define SOON_TICKS 8u /* between two looks, where stacks are deep */

/* That of the image, or NULL; see pool.c. */
#pragma weak prof_port_busy
static bool (*volatile port_busy)(void) = prof_port_busy;

static struct drainer {
    char *stack_end;
    uint32_t pause; /* ticks between two looks */
    uint32_t look;  /* ticks until the next one */
    bool more;      /* the last one has left samples */
    bool was_half;  /* so much was used at the last look */
    bool always;    /* PROF_TICK_DRAINS_ON */
} drainers[PROF_CPUS_MAX];

static struct drainer *drainer_of(const struct prof_cpu *cpu)
{
    return &drainers[prof_cpu_number(cpu)];
}

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

/* Whether there is a stream whose packets may not be sent here. */
static bool stream_waits(void)
{
    const struct prof_transport *transport;

    if (!prof_stream_on())
        return false;
    transport = prof_transport_in_use();
    if (transport == &prof_shared_memory_transport)
        return false;
    return port_busy == NULL || transport == NULL || !transport->in_interrupt;
}

/* What the program does with these it does without prof_enter(). */
static bool others_may_be_in(void)
{
    return prof_loop_is_on() || prof_trace_mode() != PROF_TRACE_OFF ||
           prof_causal_running() || stream_waits();
}

/* Whether more than so many quarters of a vector are used. */
static bool is_used(const struct prof_cpu *cpu, uint32_t quarters)
{
    const struct prof_ring *ring = &cpu->ring;
    const struct prof_frames *frames = &cpu->frames;
    size_t all = (size_t)((const char *)ring->end - (const char *)ring->begin);

    return prof_ring_bytes(ring, ring->tail, ring->head) > all / 4 * quarters ||
           (PROF_WITH_CALLERS &&
            frames->head - frames->tail > (frames->mask + 1) / 4 * quarters);
}

/* Whether nobody else drains; else (look) is when to look again. */
static bool is_due(const struct prof_cpu *cpu)
{
    struct drainer *drainer = drainer_of(cpu);
    bool was_half = drainer->was_half;

    drainer->look = drainer->pause;
    if (!PROF_OPTION(tick_drains))
        return false;
    if (drainer->always)
        return prof_tsc() - prof_drain_ended() >=
               prof_divide(prof_clock.tsc_hz, 1000) * LATE * prof_drain_ms();
    drainer->was_half = false;
    if (drainer->more)
        return true;
    if (!is_used(cpu, 2))
        return false;
    drainer->was_half = true;
    drainer->look = 1;
    if (!is_used(cpu, 3))
        return false;
    if (!was_half)
        drainer->pause = SOON_TICKS;
    return true;
}

static bool is_busy(void)
{
    return prof_busy != 0 || (port_busy != NULL && port_busy());
}

/* Drains unless that may not be. Sets in how many ticks to look again. */
static void drain_now(void)
{
    uint64_t begin = prof_tsc();
    struct prof_cpu *cpu = prof_cpu_here();
    struct drainer *drainer = drainer_of(cpu);
    uint32_t took, share = prof_clock_of(cpu)->step / SHARE + 1;

    drainer->look = drainer->pause;
    if (others_may_be_in())
        return;
    if (is_busy()) {
        drainer->look = drainer->always ? drainer->pause : 1;
        return;
    }
    drainer->more = prof_drain_in_tick(drainer->always ? 0 : share);
    /* the interrupt counts all of its time; this is in another account */
    took = (uint32_t)(prof_tsc() - begin);
    cpu->observed_cycles += took;
    if (drainer->more && !drainer->always)
        drainer->look = 1 + took / share;
}

/* Drains if that is due. Returns in how many ticks to look again. On the stack
 * of what was interrupted nothing else is done. */
static uint32_t drain_in_tick(void)
{
    const struct prof_cpu *cpu = prof_cpu_here();
    struct drainer *drainer = drainer_of(cpu);

    if (is_due(cpu))
        call_on(drainer->stack_end, drain_now);
    return drainer->look;
}

static bool may_allocate(void)
{
    return prof_pool_in_use() || port_busy != NULL;
}

/* With functions of the image's in it the stack is twice as large. */
static bool open_drainer(struct prof_cpu *cpu)
{
    struct drainer *drainer = drainer_of(cpu);
    size_t bytes = PROF_STACK_BYTES * (port_busy != NULL ? 2u : 1u);
    char *stack = drainer->stack_end == NULL ? prof_alloc(bytes) : NULL;

    if (stack != NULL)
        drainer->stack_end =
            (char *)(((uintptr_t)stack + bytes) & ~(uintptr_t)15);
    if (drainer->stack_end == NULL)
        return false;
    drainer->pause = PROF_TICK_DRAIN_TICKS;
    cpu->tick_drain_left = drainer->pause;
    cpu->tick_drain = drain_in_tick;
    return true;
}

/* It comes in the middle of anything, also of what turns interrupts off. */
static bool is_nmi(void)
{
    return PROF_WITH_NMI && prof_control_config()->tick.kind == PROF_TICK_NMI;
}

bool prof_tick_drain_open(enum prof_tick_drains how)
{
    struct prof_cpu *cpu = prof_cpu_here();
    struct drainer *drainer = drainer_of(cpu);

    *drainer = (struct drainer){.always = how == PROF_TICK_DRAINS_ON};
    cpu->tick_drain = NULL;
    if (drainer->always && is_nmi()) {
        prof_message("prof: config.tick_drains has no effect: ticks are NMIs, "
                     "in which nothing can be drained\n");
        return true;
    }
    if (!drainer->always || !PROF_OPTION(tick_drains) ||
        (may_allocate() && open_drainer(cpu)))
        return true;
    prof_message("prof: config.tick_drains needs config.pool or "
                 "prof_port_busy()\n");
    return false;
}

/* Not with NMIs, nor a hook, whose calls may come from one; nor without
 * callers, where the overflow table loses nothing. */
void prof_tick_drain_begin(void)
{
    const struct prof_config *config = prof_control_config();
    struct prof_cpu *cpu = prof_cpu_here();

    if (drainer_of(cpu)->always && is_nmi())
        return;
    if (drainer_of(cpu)->always) { /* they may have been NMIs before */
        if (PROF_WITH_NMI && cpu->tick_drain == NULL && may_allocate() &&
            PROF_OPTION(tick_drains))
            (void)open_drainer(cpu);
        return;
    }
    cpu->tick_drain = NULL;
    if (cpu->depth != 0 && PROF_OPTION(tick_drains) &&
        config->tick_drains == PROF_TICK_DRAINS_DEFAULT &&
        config->tick.kind != PROF_TICK_HOOK && !is_nmi() && may_allocate())
        (void)open_drainer(cpu);
}
