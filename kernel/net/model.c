/* SPDX-License-Identifier: Apache-2.0 */

#include "model.h"

#include "agents.h"
#include "net.h"
#include "rules.h"

#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/loop.h>
#include <prof/causal.h>
#include <string.h>
#include <virtio_net.h>

struct held {
    struct loop_answer answer;
    const struct net_model_taker *taker;
    size_t bytes;
    bool sum_good;
    uint8_t frame[];
};

/* What was measured before the kind of a peer was known is void. */
static void end_trials(void)
{
    const char *found = net_rules_found();

    if (found == NULL)
        return;
    console_line("net: %s", found);
    prof_causal_again();
}

bool net_model_turn(void)
{
    static bool was_running;
    bool running = prof_causal_running();

    if (running && was_running)
        end_trials();
    if (running == was_running)
        return running;
    was_running = running;
    virtio_net_stamp(running);
    if (running)
        net_rules_start(clock_tsc_hz(), prof_causal_now().real);
    else
        net_agents_forget();
    return running;
}

static void deliver(void *context)
{
    struct held *held = context;
    uint64_t began;

    held->taker->take(held->frame, held->bytes, held->sum_good);
    began = prof_causal_aside();
    net_port_free(held);
    prof_causal_aside_end(began);
}

void net_model_hold(const uint8_t *frame, size_t bytes, bool sum_good,
                    uint64_t arrived, const struct net_model_taker *taker)
{
    static PROF_TRACE_SITE(site, "network frame");
    uint64_t began = prof_causal_aside();
    struct held *held = net_port_alloc(sizeof *held + bytes);
    uint64_t due = net_agents_due(frame, bytes, arrived);

    if (held == NULL) { /* as if there was no room: the order is not kept */
        prof_causal_aside_end(began);
        prof_causal_refuse();
        taker->take(frame, bytes, sum_good);
        return;
    }
    held->answer = (struct loop_answer){deliver, held, &site, taker->more};
    held->taker = taker;
    held->bytes = bytes;
    held->sum_good = sum_good;
    memcpy(held->frame, frame, bytes);
    prof_causal_aside_end(began);
    loop_deliver(&held->answer, due);
}
