/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/own.h"

#include "causal/fast_path.h"
#include "causal/pace.h"
#include "causal/patch.h"

/* The least of so many is taken: no interrupt, and code in the caches. */
#define ROUNDS 8u

struct prof_own prof_own;

static uint32_t own_now(void)
{
    return (uint32_t)prof_causal_own();
}

static void keep_least(uint32_t *least, uint32_t cycles)
{
    if (cycles < *least)
        *least = cycles;
}

/* What reading the clock adds to the time between two readings of it. */
static uint32_t of_clock(void)
{
    uint32_t least = UINT32_MAX;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t before = prof_own_tsc();

        keep_least(&least, prof_own_tsc() - before);
    }
    return least;
}

/* Of visits by hand. */
static void measure_visit(struct prof_target *probe, uint32_t reading,
                          struct prof_own *found)
{
    const struct prof_virtual_clock *clock = &prof_causal.clock;

    found->visit = found->entered = found->left = UINT32_MAX;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t before = (uint32_t)clock->in_target;
        uint32_t began = prof_own_tsc(), entered;

        prof_causal_enter(probe);
        entered = prof_own_tsc();
        prof_causal_leave(probe);
        keep_least(&found->left, prof_own_tsc() - entered - reading);
        keep_least(&found->entered, entered - began - reading);
        keep_least(&found->visit, (uint32_t)clock->in_target - before);
    }
}

__attribute__((noinline)) static void call_nothing(void)
{
    prof_own_brief_close(prof_own_brief_open());
}

/* Of a call that does nothing but read the clock at its begin and end. */
static void measure_guard(uint32_t reading, struct prof_own *found)
{
    found->call = UINT32_MAX;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t own = own_now(), began = prof_own_tsc();

        call_nothing();
        keep_least(&found->call,
                   prof_own_tsc() - began - reading - (own_now() - own));
    }
}

/* ---- the fast paths */

struct paths {
    struct prof_agent device, peer;
    struct prof_request request;
    struct prof_moment now;
    struct prof_latency latency;
};

typedef void path(struct paths *of);

static void submit(struct paths *of)
{
    prof_agent_submit(&of->device, &of->request, of->now);
}

static void answer(struct paths *of)
{
    (void)prof_agent_answer(&of->device, &of->request, of->now.real);
}

static void sent(struct paths *of)
{
    prof_agent_sent(&of->peer, of->now);
}

static void packet(struct paths *of)
{
    (void)prof_agent_packet(&of->peer, of->now.real, of->now.virtual_time);
}

static void hold(struct paths *of)
{
    (void)prof_causal_hold(of->now.real, of);
}

static void take(struct paths *of)
{
    (void)of;
    (void)prof_causal_take();
}

static void done(struct paths *of)
{
    prof_causal_done(&of->latency, of->now.virtual_time);
}

/* Of (first), and of (second) after it. */
static void measure_paths(struct paths *of, uint32_t reading, path *first,
                          uint32_t *of_first, path *second, uint32_t *of_second)
{
    *of_first = *of_second = UINT32_MAX;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t began = prof_own_tsc(), between, end;

        first(of);
        between = prof_own_tsc();
        second(of);
        end = prof_own_tsc();
        keep_least(of_first, between - began - reading);
        keep_least(of_second, end - between - reading);
    }
}

/* So many events are held meanwhile. */
#define PATHS_HELD 3u

/* Whatever this changes is as before after it: nothing is held yet, nothing is
 * counted, and nothing was waited for. */
static void measure_fast(uint32_t reading, struct prof_own *found)
{
    struct paths of = {.device = {.kind = PROF_AGENT_PARALLEL, .direct = 1},
                       .peer = {.kind = PROF_AGENT_CLOSED, .direct = 1},
                       .now = prof_causal_now()};
    const struct prof_held held = prof_causal.held;
    const struct prof_causal_stats sums = prof_causal.sums;
    const uint64_t due = prof_causal.due, next_due = prof_causal_next_due;
    const bool counts = prof_causal.experiments.counts;

    prof_causal.experiments.counts = true;
    measure_paths(&of, reading, submit, &found->submit, answer, &found->answer);
    measure_paths(&of, reading, sent, &found->sent, packet, &found->packet);
    if (held.room >= PATHS_HELD && held.count == 0) {
        hold(&of);
        hold(&of);
        take(&of);
        measure_paths(&of, reading, hold, &found->hold, take, &found->take);
    }
    if (prof_causal.kinds != 0) {
        of.latency.number = 1;
        measure_paths(&of, reading, done, &found->done, done, &found->done);
        prof_clear_words(prof_causal.latency,
                         sizeof *prof_causal.latency / sizeof(void *));
    }
    prof_causal.experiments.counts = counts;
    prof_causal.held = held;
    prof_causal_look_at_list();
    prof_causal.sums = sums;
    prof_causal.due = due;
    prof_causal_next_due = next_due;
    prof_causal.taken = PROF_LIMIT_TIME;
}

/* ---- hooks */

/* Cycles of a call of (code), less those that were found to be the profiler's
 * own; and those in the target. */
static void measure_call(uintptr_t code, uint32_t *all, uint32_t *in_target)
{
    const struct prof_virtual_clock *clock = &prof_causal.clock;

    *all = *in_target = UINT32_MAX;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t before = (uint32_t)clock->in_target, own = own_now();
        uint32_t began = prof_own_tsc();

        ((void (*)(void))code)();
        keep_least(all, prof_own_tsc() - began - (own_now() - own));
        keep_least(in_target, (uint32_t)clock->in_target - before);
    }
}

/* The last entry leads to nothing but a return. There are two hooks of a call,
 * and what they add is to what such a return takes. */
static void measure_hooks(struct prof_patched *probe, struct prof_own *found)
{
    uintptr_t entry = prof_patch_entry(probe);
    uint32_t with, without, unused;

    measure_call(entry + PROF_ENTRY_HEAD, &without, &unused);
    measure_call(entry, &with, &found->patched);
    found->hook = with > without ? (with - without) / 2 : 0;
}

void prof_own_measure(void)
{
    static struct prof_target probe;
    const uint32_t number = prof_causal.experiments.target + 1;
    struct prof_virtual_clock clock = prof_causal.clock;
    struct prof_own found = {0};
    bool outside = prof_causal_outside;

    prof_own = found;
    prof_causal_outside = false;
    prof_causal.clock.nested = 0; /* a target by samples is entered */
    probe.number = number;
    measure_guard(of_clock(), &found);
    measure_visit(&probe, of_clock(), &found);
    measure_fast(of_clock(), &found);
    if (prof_patch != NULL) {
        prof_patch->functions[PROF_PROBE].target.number = number;
        measure_hooks(&prof_patch->functions[PROF_PROBE], &found);
    }
    prof_own = found;
    prof_causal_outside = outside;
    prof_causal.clock = clock;
}

/* Reads the clock last, so that what comes after it is always the same, and
 * once: the host may take a long time between two readings, which would be the
 * profiler's own and the target's. */
void prof_own_end(struct prof_own_call call, uint32_t around)
{
    struct prof_virtual_clock *clock = &prof_causal.clock;
    /* what was left out already is not left out again */
    uint64_t less_now = around + call.own - prof_causal_own() - call.began;
    uint64_t later_now = 0, any = 0; /* no bits: (since) stays as it is */
    uint64_t now;

    if (!prof_causal_on()) { /* virtual time has stopped to lag further */
        prof_pace_leave_out(prof_tsc() - call.began + around);
        return;
    }
    prof_virtual_add_apart(clock);
    if (clock->nested != 0) {
        if (clock->since > call.began) { /* it was entered in this call */
            later_now = (call.inside ? around : 0) - clock->since;
            any = UINT64_MAX;
        } else if (call.inside) {
            later_now = less_now;
            any = UINT64_MAX;
        }
    }
    now = prof_tsc();
    prof_virtual_except(clock, (now + later_now) & any);
    prof_own_skip(now + less_now);
}

void prof_own_brief_end(uint32_t began)
{
    uint64_t now = prof_tsc();
    struct prof_own_call call = {now - (uint32_t)((uint32_t)now - began),
                                 prof_causal_own(),
                                 prof_causal.clock.nested != 0};

    prof_virtual_add_apart(&prof_causal.clock);
    /* it was entered in this call */
    if (call.inside && prof_causal.clock.since > call.began)
        call.inside = false;
    prof_own_end(call, prof_own.call);
}

#ifdef __OPTIMIZE_SIZE__
void prof_own_brief_close_on(struct prof_own_brief brief)
{
    prof_own_brief_close_here(brief);
}

void prof_own_brief_close(struct prof_own_brief brief)
{
    if (prof_causal_on())
        prof_own_brief_close_on(brief);
    else
        prof_interrupts_restore(brief.on);
}

void prof_own_close(const struct prof_own_guard *guard)
{
    prof_own_close_here(guard);
}
#endif
