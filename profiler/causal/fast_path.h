/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_FAST_PATH_H
#define PROF_FAST_PATH_H

/*
 * The rare paths of the calls in fast_path.c, and what they share with the fast
 * ones. Contexts: thread, unless stated otherwise.
 */

#include "causal/causal.h"

/* prof_causal_take() on any path (traffic.c). */
void *prof_causal_take_any(void);

/* To be called after each change of (held) but those of the fast paths. */
void prof_causal_look_at_list(void);

/* To and of an agent of any kind (agent.c). */
void prof_agent_submit_any(struct prof_agent *agent,
                           struct prof_request *request);
uint64_t prof_agent_any_answer(struct prof_agent *agent,
                               struct prof_request *request, uint64_t arrived);
void prof_agent_sent_any(struct prof_agent *agent, struct prof_moment sent);
uint64_t prof_agent_any_packet(struct prof_agent *agent, uint64_t arrived,
                               uint64_t now);

static inline void prof_agent_note_sent(struct prof_agent *agent,
                                        struct prof_moment sent)
{
    uint32_t at = (agent->of.sent.newest - 1) % PROF_AGENT_SENT_MAX;

    agent->of.sent.newest = at;
    agent->of.sent.at[at] = sent;
    agent->asked = true;
}

/* A visit in the target, or outside of experiments; and one at (now), 0: at
 * present, at which an experiment begins to count, or the next one begins
 * (causal.c). */
void prof_causal_visit_otherwise(struct prof_progress *point);
void prof_causal_visit_last(uint64_t now);

/* A request is done in the target; and it has taken so long, if that is not
 * less than 0 (results.c). */
void prof_causal_done_in_target(struct prof_latency *latency, uint64_t began);
void prof_latency_add_if(struct prof_latency_sum *sum, uint64_t cycles);

#endif
