/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What each request calls, on its fast paths. What is rare is in the files of
 * the parts: it is called last, with the same arguments, so that it takes the
 * place of the call. Where the Makefile compiles this, it is without frames,
 * which short functions pay most for.
 */

#include "causal/causal.h"
#include "causal/fast_path.h"
#include "causal/own.h"
#include "causal/shares.h"

#define RARELY(condition) __builtin_expect(condition, 0)

/* ---- held events */

__attribute__((noinline)) static bool hold_any(uint64_t due, void *event)
{
    struct prof_own_brief brief = prof_own_brief_open();
    const bool is_held = prof_held_put(&prof_causal.held, due, event);

    if (!is_held)
        prof_causal_refuse();
    else if (due < prof_causal_next_due)
        prof_causal_next_due = due;
    prof_causal_look_at_list();
    prof_own_brief_close_on(brief);
    return is_held;
}

/* For when others are held, all in the list, and this is due after them. */
bool prof_causal_hold(uint64_t due, void *event)
{
    struct prof_held *held = &prof_causal.held;

    if (!prof_causal_on())
        return false;
    if (RARELY(!prof_causal.listed || held->unused == NULL ||
               due < held->last->due))
        return hold_any(due, event);
    prof_held_append(held, prof_held_take_free(held, due, event));
    prof_own_skip_path(prof_own.hold);
    return true;
}

/* For when all events are in the list. */
void *prof_causal_take(void)
{
    struct prof_held *held = &prof_causal.held;
    const struct prof_held_event *taken = held->first;

    if (RARELY(!prof_causal.listed))
        return prof_causal_take_any();
    prof_held_take_first(held);
    prof_causal.taken = taken->origin;
    prof_causal.due = taken->due;
    if (held->first != NULL) {
        prof_causal_next_due = held->first->due;
    } else {
        prof_causal.listed = false;
        prof_causal_next_due = UINT64_MAX;
    }
    prof_own_skip_path(prof_own.take);
    return taken->event;
}

/* ---- agents that are direct */

/* What was read is read again: i386 has no registers to keep 64 bits in. */
static inline void again(void)
{
    __asm__ volatile("" : : : "memory");
}

/* An answer comes so long after the (cause) by either clock, so it contradicts
 * nothing. */
static inline void count_direct(const struct prof_agent *agent,
                                const struct prof_moment *cause)
{
    prof_causal.sums.answers++;
    prof_causal.held.origin = agent->direct;
    if (!prof_causal.checks || cause->real < prof_causal.normal)
        return;
    prof_causal.sums.checked++;
    if (agent->assumption != NULL)
        agent->assumption->checked++;
}

void prof_agent_submit(struct prof_agent *agent, struct prof_request *request,
                       struct prof_moment now)
{
    request->cause = now;
    if (RARELY(agent->direct == 0)) {
        prof_agent_submit_any(agent, request);
        return;
    }
    prof_own_skip_path(prof_own.submit);
    if (RARELY(prof_shares_on))
        prof_shares_doorbell();
}

uint64_t prof_agent_answer(struct prof_agent *agent,
                           struct prof_request *request, uint64_t arrived)
{
    if (RARELY(agent->direct == 0))
        return prof_agent_any_answer(agent, request, arrived);
    count_direct(agent, &request->cause);
    prof_own_skip_path(prof_own.answer);
    return request->cause.virtual_time + (arrived - request->cause.real);
}

void prof_agent_sent(struct prof_agent *agent, struct prof_moment sent)
{
    if (RARELY(agent->direct == 0)) {
        prof_agent_sent_any(agent, sent);
        return;
    }
    prof_agent_note_sent(agent, sent);
    prof_own_skip_path(prof_own.sent);
    if (RARELY(prof_shares_on))
        prof_shares_doorbell();
}

/* Our last packet (sent) is most often all that has caused one of a closed
 * peer: it is later than the peer's own last one by both clocks. By real time
 * it is if that was taken before. */
uint64_t prof_agent_packet(struct prof_agent *agent, uint64_t arrived,
                           uint64_t now)
{
    const struct prof_moment *sent = &agent->of.sent.at[agent->of.sent.newest];
    uint64_t due;

    if (RARELY(agent->direct == 0 || !agent->asked || sent->real > arrived ||
               sent->virtual_time < agent->last.virtual_time))
        return prof_agent_any_packet(agent, arrived, now);
    again();
    agent->asked = false;
    count_direct(agent, sent);
    prof_own_skip_path(prof_own.packet);
    due = arrived - sent->real + sent->virtual_time;
    agent->last.real = arrived;
    agent->last.virtual_time = due;
    return due;
}

/* ---- visits and latencies */

static inline void count_visit(const struct prof_progress *point,
                               uint64_t began)
{
    if (RARELY(prof_experiments_count(&prof_causal.experiments,
                                      point->number - 1)))
        prof_causal_visit_last(began);
}

void prof_causal_visit(struct prof_progress *point)
{
    if (RARELY(!prof_causal_on() || !prof_causal_no_target() ||
               point->number == 0))
        prof_causal_visit_otherwise(point);
    else
        count_visit(point, 0);
}

void prof_causal_visit_at(struct prof_progress *point, uint64_t began)
{
    if (!prof_causal_on() || point->number == 0)
        prof_causal_visit_otherwise(point);
    else
        count_visit(point, began);
}

/* Most often it is less than 2^32. */
static inline void add_latency(struct prof_latency_sum *sum, uint64_t cycles)
{
#ifndef __OPTIMIZE_SIZE__
    if (__builtin_expect(cycles >> 32 == 0, 1)) {
        sum->buckets[prof_log_linear_bucket((uint32_t)cycles)]++;
        prof_add_to(&sum->cycles, (uint32_t)cycles);
        sum->count++;
        return;
    }
#endif
    prof_latency_add_if(sum, cycles);
}

void prof_causal_done(struct prof_latency *latency, uint64_t began)
{
    uint64_t cycles;

    if (latency->number == 0 || !prof_causal.experiments.counts)
        return;
    if (RARELY(!prof_causal_no_target())) {
        prof_causal_done_in_target(latency, began);
        return;
    }
    cycles = prof_causal_both().virtual_time - began;
    add_latency(&prof_causal.latency[latency->number - 1], cycles);
    prof_own_skip_path(prof_own.done);
}

/* ---- targets */

/* Whether it is the (beginning | end) of a visit that the experiment is about.
 */
static inline bool begins_visit(struct prof_target *target)
{
    if (target->by_samples)
        return false;
    target->visits++;
    return target->inside++ == 0 && prof_causal_chosen(target) &&
           (prof_causal_spins == 0 || target->outside);
}

static inline bool ends_visit(struct prof_target *target)
{
    return target->inside != 0 && !target->by_samples &&
           --target->inside == 0 && prof_causal_chosen(target);
}

static inline void enter_clock(void)
{
    prof_causal.sampled = prof_causal_sampled();
    prof_virtual_enter(&prof_causal.clock, prof_tsc());
}

void prof_causal_enter(struct prof_target *target)
{
    uintptr_t flags;

    if (!begins_visit(target))
        return;
    flags = prof_flags_save();
    prof_own_skip_path(prof_own.entered);
    enter_clock();
    prof_flags_restore(flags);
}

/* Stops the virtual clock's time in the target. Time that is not the target's
 * is subtracted from (now): the result is as if (since) were later. */
static inline void leave_clock(void)
{
    uint32_t others = prof_own.visit - prof_causal.sampled;
    uint64_t now = prof_tsc();

    prof_virtual_leave(&prof_causal.clock, now, others + prof_causal_sampled());
    prof_own_skip_path(prof_own.left);
}

void prof_causal_leave(struct prof_target *target)
{
    uintptr_t flags;

    if (!ends_visit(target))
        return;
    flags = prof_flags_save();
    if (prof_causal.clock.nested == 1)
        leave_clock();
    prof_flags_restore(flags);
}

void prof_causal_enter_last(struct prof_target *target)
{
    if (!begins_visit(target))
        return;
    enter_clock();
}

void prof_causal_leave_at(struct prof_target *target, uint64_t now,
                          uint32_t own)
{
    if (!ends_visit(target))
        return;
    prof_virtual_leave(&prof_causal.clock, now, own);
}
