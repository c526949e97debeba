/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A drain, at a time when the heap may be used: reads what is queued
 * (drain_entries.c), has the other rooms send what they have, and looks after
 * the timer. The last one, in a panic, only sends.
 */

#include "aggregate/drain.h"

#include "base/busy.h"
#include "base/cpu.h"
#include "aggregate/accounts.h"
#include "aggregate/addresses.h"
#include "aggregate/drain_state.h"
#include "aggregate/image.h"
#include "aggregate/recent.h"
#include "aggregate/resolve.h"
#include "aggregate/stacks.h"
#include "aggregate/stolen.h"
#include "aggregate/sums.h"
#include "sample/cpu_state.h"
#include "causal/send.h"
#include "causal/shares.h"
#include "loop/loop.h"
#include "stream/stream.h"
#include "tick/clock.h"
#include "tick/meter.h"
#include "tick/watchdog.h"
#include "trace/send.h"

#include <prof/config.h>

/* Prologues analysed in a drain beyond those that its samples need, and steps
 * (units of work): as many as half of its samples may have new. */
#define PROLOGUES_MAX 128u
#define PROLOGUES_STEPS_MAX 5000u

/* A portion of a drain in the interrupt: samples, and units of work. */
#define PORTION_ENTRIES 4u
#define PORTION_WORK 250u

struct prof_drain_state prof_drain_state;
static struct prof_drain_state *const drain = &prof_drain_state;

void prof_drain_open(const struct prof_config *config)
{
    prof_image_open(config);
    prof_accounts = (struct prof_accounts){0};
    prof_stacks_open();
    prof_stolen_open();
    prof_recent_open();
    prof_sums_expire();
    prof_drain_state = (struct prof_drain_state){.open = true,
                                                 .read = prof_cpus[0].ring.tail,
                                                 .most = PROF_DRAIN_ENTRIES};
}

/* Whether the samples stay queued, since it is still being measured how often
 * ticks come; (now): the measurement ends, as well as it can. */
static bool is_measuring(bool now)
{
    if (!PROF_WITH_BUILTIN)
        return false;
    if (prof_meter_waits(&prof_cpus[0].ring, drain->read, now))
        return true;
    prof_image.tsc_hz = prof_clock_tsc_hz();
    return false;
}

/* Sends events of objects: all of them, as what is sent next has the present
 * time; or only those before the samples that are left for the next drain. */
static void flush_events(void)
{
    if (drain->behind && drain->read != prof_ring_head(&prof_cpus[0].ring))
        prof_trace_before(prof_entry_tsc(drain->read));
    else
        prof_trace_flush();
}

/* Reads what is queued, in one drain that takes up to (work). */
static inline __attribute__((always_inline)) void read_queued(uint32_t work)
{
    if (prof_drain_is_more())
        prof_recent_reserve();
    prof_resolve_begin(work);
    drain->behind = false;
    prof_drain_entries();
    drain->behind = drain->behind || prof_resolve_is_enough();
}

/* A drain that began at (begin) ends. */
static inline __attribute__((always_inline)) void end(uint64_t begin)
{
    uint64_t now = prof_tsc();

    (void)prof_ticks();
    drain->draining = false;
    if (PROF_WITH_BUILTIN) {
        if (begin - drain->ended_tsc > drain->longest && prof_running())
            drain->longest = begin - drain->ended_tsc;
        drain->ended_tsc = now;
    }
    prof_accounts.drain_cycles += now - begin;
}

/* One drain, after is_measuring() has returned false. */
static void drain_once(void)
{
    uint64_t begin = prof_tsc();
    struct prof_loop_frame frame;

    prof_enter();
    prof_loop_profiler(&frame);
    drain->draining = true;
    prof_shares_drains();
    read_queued(PROF_RESOLVE_WORK);
    flush_events();
    if (!drain->behind) {
        prof_stream_stopped_walks(prof_tsc(), prof_accounts.stopped);
        prof_loop_drained(prof_tsc(), prof_accounts.stolen_cycles,
                          prof_clock.step, prof_clock.last_tsc);
        prof_causal_drained(prof_tsc(), prof_accounts.stolen_cycles);
    }
    prof_stream_flush(prof_tsc());
    if (PROF_WITH_PIT)
        prof_watchdog();
    if (PROF_WITH_CALLERS &&
        prof_resolve_work() < PROLOGUES_STEPS_MAX) /* nothing waits for it */
        prof_addresses_catch_up(PROLOGUES_MAX, PROLOGUES_STEPS_MAX);
    prof_shares_drained();
    end(begin);
    prof_loop_leave(&frame);
    prof_leave();
}

void prof_drain(void)
{
    prof_enter();
    if (drain->open && !drain->draining && !is_measuring(false)) {
        if (PROF_WITH_BUILTIN)
            prof_meter_say();
        drain_once();
        if (PROF_WITH_PIT && prof_watchdog_gave_up())
            prof_stop();
    }
    prof_leave();
}

#if PROF_WITH_BUILTIN
bool prof_drain_in_tick(uint64_t cycles)
{
    uint64_t begin = prof_tsc();
    uint32_t work = cycles != 0 ? PORTION_WORK : PROF_RESOLVE_WORK;

    if (!drain->open || drain->draining || is_measuring(false))
        return false;
    prof_enter();
    drain->draining = true;
    if (cycles != 0)
        drain->most = PORTION_ENTRIES;
    do {
        read_queued(work);
    } while (drain->behind && prof_tsc() - begin < cycles);
    drain->most = PROF_DRAIN_ENTRIES;
    if (!drain->behind) {
        prof_stream_stopped_walks(prof_tsc(), prof_accounts.stopped);
        if (PROF_WITH_CALLERS)
            prof_addresses_catch_up(PORTION_ENTRIES, work);
    }
    prof_stream_flush(prof_tsc());
    end(begin);
    prof_leave();
    return drain->behind;
}
#endif

void prof_drain_whole(void)
{
    uint64_t most = prof_queued(); /* each drain takes one at least */

    if (PROF_WITH_BUILTIN && (!drain->open || drain->draining))
        return;
    prof_enter();
    (void)is_measuring(true);
    if (PROF_WITH_BUILTIN)
        prof_meter_say();
    do {
        if (PROF_WITH_BUILTIN)
            drain_once();
        else
            prof_drain();
    } while (drain->behind && most-- > 0);
    prof_leave();
}

void prof_drain_last(void)
{
    bool interrupted = drain->draining;

    if (!PROF_WITH_STREAM || !drain->open)
        return;
    drain->draining = drain->dying = true;
    prof_resolve_begin(PROF_RESOLVE_ALL);
    prof_table_freeze(true);
    if (interrupted)
        prof_drain_emit_vector();
    else
        prof_drain_entries();
    prof_stream_discard(
        prof_queued() + prof_accounts.dropped.samples -
        prof_stream_emitted.dropped +
        prof_overflow_dropped(&prof_cpus[0].overflow, drain->taken));
}
