/* SPDX-License-Identifier: Apache-2.0 */

/* What parasite attach writes is what readers of traces read; and when its
 * samples are due. */

#include "../unit.h"

#include "attach/encoder.h"
#include "attach/pauses.h"
#include "trace/model.h"

#define MS (PROF_CLOCK_HZ / 1000)

static void take(void *owner, const struct packet *packet)
{
    model_take(owner, packet);
}

static void begin(struct encoder *encoder, struct model *model, size_t cpus)
{
    struct event_hello hello = {.version = PROF_FORMAT_VERSION,
                                .pointer_bits = 64,
                                .text_begin = 0x100000,
                                .text_end = 0x200000};

    *encoder = (struct encoder){.sink = {take, model}};
    *model = (struct model){0};
    encoder_begin(encoder, cpus, &hello, 99000, 64);
}

TEST(samples_are_read_back)
{
    static const uint64_t stack[] = {0xffffffff80001000u, 0x100200, 0x100100};
    struct encoder encoder;
    struct model model;
    uint32_t nodes[8];

    begin(&encoder, &model, 2);
    for (unsigned i = 1; i <= 1000; ++i) {
        encoder_sample(&encoder, 0, i * MS, stack, i % 2 ? 3 : 1);
        encoder_idle(&encoder, 1, i * MS);
    }
    encoder_miss(&encoder, 0, 1000 * MS, 7);
    encoder_stopped(&encoder, 0, 1000 * MS, PROF_WALK_NOT_CODE);
    encoder.discarded = 3;
    encoder_end(&encoder, 1000 * MS);
    assert_int_equal(model.hello.pointer_bits, 64);
    assert_int_equal(model.rate_mhz, 99000);
    assert_true(model.stacks.samples == 1000);
    assert_true(model.stacks.clocks == 1000 * (uint64_t)MS);
    assert_true(model.idle.samples == 1000);
    assert_true(model.missed_ticks == 7 && model.discarded == 3);
    assert_true(model.stopped_walks[PROF_WALK_NOT_CODE] == 1);
    assert_true(model.missing_packets == 0 && model.unread_packets == 0);
    assert_true(model.ended);
    assert_int_equal(model_nodes(&model), MODEL_PSEUDOS + 4);
    assert_int_equal(model_stack(&model, model_node(&model, 3), nodes, 8), 3);
    for (unsigned i = 0; i < 3; ++i)
        assert_true(model.nodes[nodes[i]].address == stack[i]);
    model_free(&model);
}

struct seen {
    unsigned masked;
    unsigned inside;
    struct event_inside last;
};

static void see(void *owner, const struct event *event, uint32_t node,
                uint64_t clocks, const struct model_cpu *cpu)
{
    struct seen *seen = owner;

    (void)node;
    (void)clocks;
    seen->masked += event->kind == PROF_EVENT_MASKED && cpu->cpu == 1;
    if (event->kind != PROF_EVENT_INSIDE)
        return;
    ++seen->inside;
    seen->last = event->as_inside;
}

TEST(what_is_seen_of_the_inside_is_read_back)
{
    static const uint64_t address = 0x100100;
    static const uint8_t uuid[16] = {1, 0, 0, 0, 0, 0, 0, 2,
                                     3, 0, 0, 0, 0, 0, 0, 4};
    struct encoder encoder;
    struct model model;
    struct seen seen = {0};

    begin(&encoder, &model, 2);
    model.watch = (struct model_watch){see, &seen};
    for (unsigned i = 1; i <= 1000; ++i) {
        encoder_inside(&encoder, i * 100 * MS, uuid, i);
        encoder_sample(&encoder, 0, i * 100 * MS, &address, 1);
        if (i % 2)
            encoder_masked(&encoder, 1, i * 100 * MS);
        encoder_idle(&encoder, 1, i * 100 * MS);
    }
    encoder_end(&encoder, 100000 * (uint64_t)MS);
    assert_int_equal(seen.masked, 500);
    assert_int_equal(seen.inside, 1000);
    assert_true(seen.last.boot == 0x0200000000000001u);
    assert_true(seen.last.time_of_boot == 0x0400000000000003u);
    assert_true(seen.last.newest == 1000);
    assert_true(model.stacks.samples == 1000 && model.idle.samples == 1000);
    assert_true(model.unread_packets == 0);
    model_free(&model);
}

TEST(long_pauses_keep_their_length)
{
    static const uint64_t address = 0x100100;
    struct encoder encoder;
    struct model model;

    begin(&encoder, &model, 1);
    encoder_sample(&encoder, 0, 1, &address, 1);
    encoder_sample(&encoder, 0, 1 + 100000 * (uint64_t)MS, &address, 1);
    encoder_flush(&encoder);
    encoder_sample(&encoder, 0, 1 + 500000 * (uint64_t)MS, &address, 1);
    encoder_end(&encoder, 600000 * (uint64_t)MS);
    assert_true(model.stacks.clocks == 1 + 500000 * (uint64_t)MS);
    assert_true(model.end == 600000 * (uint64_t)MS);
    model_free(&model);
}

/* ---- when samples are due */

TEST(intervals_have_their_mean_and_vary)
{
    struct schedule schedule = {.interval = 0.01};
    double last, least = 1, most = 0;

    schedule_begin(&schedule, 100, 5);
    last = schedule.due;
    for (int i = 0; i < 10000; ++i) {
        double interval;

        assert_int_equal(schedule_next(&schedule, schedule.due, 0), 0);
        interval = schedule.due - last;
        last = schedule.due;
        least = interval < least ? interval : least;
        most = interval > most ? interval : most;
    }
    assert_true(schedule.due > 199 && schedule.due < 201);
    assert_true(least >= 0.00499 && least < 0.0051);
    assert_true(most <= 0.01501 && most > 0.0149);
}

TEST(what_is_late_is_missed)
{
    struct schedule schedule = {.interval = 0.01};
    uint32_t missed;

    schedule_begin(&schedule, 0, 5);
    missed = schedule_next(&schedule, 1, 0);
    assert_true(missed > 90 && missed < 110);
    assert_true(schedule.due >= 1 && schedule.due < 1.016);
    schedule_resume(&schedule, 50);
    assert_true(schedule.due > 50 && schedule.due < 50.016);
}

TEST(pauses_stay_within_their_budget)
{
    struct schedule schedule = {.interval = 0.001, .budget = 0.005};
    double now, paused = 0;

    schedule_begin(&schedule, 0, 5);
    for (int i = 0; i < 1000; ++i) {
        now = schedule.due;
        assert_true(paused <= 0.005 * now + 1e-9);
        paused += 0.0001 * (1 + i % 3);
        assert_int_equal(schedule_next(&schedule, now + 0.0001, paused), 0);
    }
    assert_true(paused > 0.004 * now); /* and it is made use of */
}

static void check_part(const struct pauses *pauses, double part, double wanted)
{
    double found = pauses_part(pauses, part);

    assert_true(found >= wanted && found <= 1.03 * wanted);
}

TEST(parts_of_the_pauses)
{
    static struct pauses pauses;

    assert_true(pauses_part(&pauses, 0.5) == 0);
    for (int i = 1000; i > 0; --i)
        pauses_add(&pauses, i * 1e-6);
    check_part(&pauses, 0.5, 500e-6);
    check_part(&pauses, 0.99, 990e-6);
    assert_true(pauses_part(&pauses, 1) == pauses.worst);
    assert_true(pauses.worst == 1000 * 1e-6);
    assert_true(pauses.total > 0.5004 && pauses.total < 0.5006);
    pauses_add(&pauses, 0);
    pauses_add(&pauses, 1e6);
    assert_true(pauses_part(&pauses, 1) == 1e6);
    check_part(&pauses, 0, 1e-7);
}
