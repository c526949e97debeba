/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Experiments in the stream: what is said of one is of the time since the one
 * before, and not of another run.
 */

#include "../unit.h"

#include "../profiler/stream_world.h"
#include "causal/send.h"

#include <prof/causal.h>

#define STOLEN 1000000u /* cycles, before experiments */
#define MEANWHILE 500u

static PROF_PROGRESS(point, "point");
static PROF_TARGET(target, "target");
static struct prof_assumption assumption = PROF_ASSUMPTION("it is so");

/* Experiments of a few cycles, in which (held) events are held. */
static void run(unsigned held, uint64_t stolen)
{
    const struct prof_causal_settings settings = {
        .tsc_hz = SECOND, .cycles_min = 1, .visits_min = 1};
    static char event;

    prof_causal_assume(&assumption);
    prof_causal_add_progress(&point);
    prof_causal_add_target(&target);
    assert_int_equal(prof_causal_start(&settings), 0);
    for (unsigned i = 0; i < held; i++)
        assert_true(prof_causal_hold(0, &event));
    while (prof_causal_take() != NULL)
        continue;
    for (unsigned i = 0; i < 20; i++)
        prof_progress(&point);
    prof_causal_drained(at(1000), stolen);
    for (unsigned i = 0; i < 20; i++)
        prof_progress(&point);
    prof_causal_drained(at(2000), stolen);
    prof_causal_stop();
}

struct sums {
    unsigned experiments;
    uint64_t held, stolen;
};

static struct sums sums_of_stream(void)
{
    struct sums sums = {0};

    prof_stream_push();
    see_all();
    for (unsigned i = 0; i < seen_count; i++) {
        const struct event *event = &seen[i].event;

        if (event->kind != PROF_EVENT_CAUSAL_EXPERIMENT)
            continue;
        sums.experiments++;
        sums.held += event->as_causal_experiment.held;
        sums.stolen += event->as_causal_experiment.stolen;
    }
    return sums;
}

FIXTURE(open_stream, NULL);

TEST(what_was_before_a_run_is_not_in_it)
{
    struct sums sums;

    prof_causal_drained(at(500), STOLEN);
    run(30, STOLEN + MEANWHILE);
    sums = sums_of_stream();
    assert_in_range(sums.experiments, 2, 40);
    assert_int_equal(sums.held, 30);
    assert_int_equal(sums.stolen, MEANWHILE);
    open_stream();
    prof_causal_send_again();
    run(7, STOLEN + 3 * MEANWHILE);
    sums = sums_of_stream();
    assert_in_range(sums.experiments, 2, 40);
    assert_int_equal(sums.held, 7);
    assert_int_equal(sums.stolen, 2 * MEANWHILE);
}

/* With each account, so that a reader that missed a packet knows it. */
TEST(assumptions_come_each_second)
{
    unsigned accounts;

    assert_true(assumption.added);
    prof_causal_send_again();
    run(0, STOLEN);
    prof_stream_push();
    see_all();
    accounts = count_of(PROF_EVENT_CAUSAL);
    assert_true(accounts != 0);
    assert_int_equal(count_of(PROF_EVENT_CAUSAL_CHECKED), accounts);
    assert_int_equal(count_of(PROF_EVENT_CAUSAL_LEARNT), accounts);
    for (unsigned i = 0; i < accounts; i++) {
        const struct event *event = nth(PROF_EVENT_CAUSAL_ASSUMED, i);

        assert_int_equal(event->as_causal_assumed.assumption, 0);
        assert_string_equal(event->as_causal_assumed.text, "it is so");
    }
    assert_null(nth(PROF_EVENT_CAUSAL_ASSUMED, accounts));
}
