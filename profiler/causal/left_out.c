/* SPDX-License-Identifier: Apache-2.0 */

/* The calls of <prof/causal.h> where causal profiling was left out. */

#include "base/cpu.h"

#include <prof/causal.h>
#include <prof/error.h>
#include <prof/gain.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

uint64_t prof_causal_real(uint64_t due)
{
    return due;
}

struct prof_moment prof_causal_now(void)
{
    uint64_t now = prof_tsc();

    return (struct prof_moment){now, now};
}

void prof_causal_except(uint64_t cycles)
{
}

void prof_causal_add_progress(struct prof_progress *point)
{
}

void prof_causal_add_target(struct prof_target *target)
{
}

void prof_causal_visit(struct prof_progress *point)
{
}

void prof_causal_add_latency(struct prof_latency *latency)
{
}

uint64_t prof_causal_due(void)
{
    return prof_tsc();
}

void prof_causal_done(struct prof_latency *latency, uint64_t began)
{
}

int prof_causal_quantiles(const struct prof_target *target, uint32_t speedup,
                          const struct prof_latency *latency,
                          struct prof_quantiles *quantiles)
{
    *quantiles = (struct prof_quantiles){0};
    return PROF_EABSENT;
}

void prof_causal_enter(struct prof_target *target)
{
}

void prof_causal_leave(struct prof_target *target)
{
}

int prof_causal_start(const struct prof_causal_settings *settings)
{
    return PROF_EABSENT;
}

int prof_causal_fix(const struct prof_target *target, uint32_t speedup)
{
    return PROF_EABSENT;
}

void prof_causal_stop(void)
{
}

int prof_causal_gain(const struct prof_target *target, uint32_t speedup,
                     const struct prof_progress *point, struct prof_gain *gain)
{
    *gain = (struct prof_gain){0};
    return PROF_EABSENT;
}

void prof_causal_code(const struct prof_image_code *code)
{
}

int prof_causal_add_function(const char *name, enum prof_causal_kind kind)
{
    return PROF_EABSENT;
}

int prof_causal_add_address(uintptr_t address, enum prof_causal_kind kind)
{
    return PROF_EABSENT;
}

bool prof_causal_polls(uintptr_t begin, size_t bytes)
{
    return false;
}

const struct prof_target *prof_causal_target(const char *name)
{
    return 0;
}

void prof_causal_switched(uintptr_t begin, uintptr_t end)
{
}

void prof_causal_stats(struct prof_causal_stats *stats)
{
    *stats = (struct prof_causal_stats){0};
}

void prof_causal_report(void)
{
}

void prof_causal_step(void)
{
}

bool prof_causal_hold(uint64_t due, void *event)
{
    return false;
}

void *prof_causal_take(void)
{
    return 0;
}

bool prof_causal_withdraw(const void *event)
{
    return false;
}

void prof_causal_spin(void)
{
}

void prof_causal_found(void)
{
}

void prof_causal_turn(void)
{
}

void prof_causal_handler(const void *kind)
{
}

void prof_causal_handled(void)
{
}

const void *prof_causal_part(const void *kind)
{
    return kind;
}

bool prof_causal_owes_now(void)
{
    return false;
}

int prof_causal_none(const struct prof_progress *point, struct prof_gain *gain)
{
    *gain = (struct prof_gain){0};
    return PROF_EABSENT;
}

int prof_causal_shares(const struct prof_target *target, uint32_t speedup,
                       struct prof_shares *shares)
{
    *shares = (struct prof_shares){0};
    return PROF_EABSENT;
}

/* Agents: without experiments an answer is due when it arrives. */

void prof_agent_init(struct prof_agent *agent, enum prof_agent_kind kind,
                     uint32_t servers)
{
    *agent = (struct prof_agent){.kind = kind};
}

void prof_agent_target(struct prof_agent *agent, struct prof_target *target)
{
}

void prof_agent_submit(struct prof_agent *agent, struct prof_request *request,
                       struct prof_moment now)
{
    *request = (struct prof_request){.cause = now};
}

uint64_t prof_agent_answer(struct prof_agent *agent,
                           struct prof_request *request, uint64_t arrived)
{
    return arrived;
}

void prof_agent_sent(struct prof_agent *agent, struct prof_moment sent)
{
}

uint64_t prof_agent_packet(struct prof_agent *agent, uint64_t arrived,
                           uint64_t now)
{
    return arrived;
}

void prof_gain_add(struct prof_progress_sum groups[PROF_GAIN_GROUPS],
                   uint64_t cycles, uint32_t visits)
{
}

void prof_gain_widen(struct prof_gain *gain, uint64_t samples)
{
}

int prof_gain_of(const struct prof_progress_sum normal[PROF_GAIN_GROUPS],
                 const struct prof_progress_sum faster[PROF_GAIN_GROUPS],
                 struct prof_gain *gain)
{
    *gain = (struct prof_gain){0};
    return PROF_EABSENT;
}

void prof_causal_refuse(void)
{
}

void prof_causal_again(void)
{
}

void prof_causal_assume(struct prof_assumption *assumption)
{
}
