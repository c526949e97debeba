/* SPDX-License-Identifier: Apache-2.0 */
/* What a stream adds up to, also with a packet missing. */

#include "../unit.h"

#include "model_feeder.h"

static const struct model_cell *cell_at(const struct model *model,
                                        uint64_t address)
{
    for (uint32_t i = 0; i < model_cells(model); ++i) {
        if (model->nodes[model->cells[i].node].address == address)
            return &model->cells[i];
    }
    return NULL;
}

TEST(samples_stand_for_the_time_before_them)
{
    struct made *made = begun();
    struct model model = {0};

    made_node(made, 1, 0, 0x1000);
    made_node(made, 2, 1, 0x2000);
    made->step = STEP;
    made_sample(made, 2);
    made_bare(made, PROF_EVENT_IDLE);
    made->step = 5 * STEP;
    made_sample(made, 2);
    made_flush(made);
    feed(made, UINT32_MAX, &model);
    assert_int_equal(model.stacks.samples, 2);
    assert_int_equal(model.stacks.clocks, 6 * STEP);
    assert_int_equal(model.idle.clocks, STEP);
    assert_int_equal(cell_at(&model, 0x2000)->count.samples, 2);
    assert_int_equal(model_samples(&model), 3);
    assert_int_equal(model.hello.build_id_bytes, 20);
    assert_int_equal(model.rate_mhz, 1000000);
    finish(made, &model);
}

TEST(whole_clocks_carry_over_long_silence)
{
    struct made *made = begun();
    struct model model = {0};
    uint64_t long_time = 10ull << PROF_EVENT_TIME_BITS;

    made_node(made, 1, 0, 0x1000);
    made->step = long_time;
    made_event(made, PROF_EVENT_CLOCK, &(uint64_t){long_time}, 8);
    made->step = STEP;
    made_sample(made, 1);
    made_flush(made);
    feed(made, UINT32_MAX, &model);
    assert_int_equal(model.stacks.clocks, long_time + STEP);
    finish(made, &model);
}

TEST(a_leaf_is_a_node_and_a_sample)
{
    struct made *made = begun();
    struct model model = {0};
    uint32_t stack[4], leaf;

    made_node(made, 1, 0, MADE_TEXT + 16);
    made->step = STEP;
    made_leaf(made, 2, 1, MADE_TEXT + (1u << 26) - 1);
    made_sample(made, 2);
    made->step = 1 << 16;
    made_sample(made, 2);
    made_flush(made);
    feed(made, UINT32_MAX, &model);
    leaf = cell_at(&model, MADE_TEXT + (1u << 26) - 1)->node;
    assert_int_equal(model.stacks.samples, 3);
    assert_int_equal(model.stacks.clocks, 2 * STEP + (1 << 16));
    assert_int_equal(model_stack(&model, leaf, stack, 4), 2);
    assert_int_equal(model.nodes[stack[1]].address, MADE_TEXT + 16);
    finish(made, &model);
}

/* Packets of a format that is not ours are counted, and not misread. */
TEST(another_version_is_not_read)
{
    struct made *made = begun();
    struct model model = {0};

    made_leaf(made, 2, 0, MADE_TEXT);
    made_flush(made);
    made->bytes[offsetof(struct prof_packet, version)] += 1;
    made_seal(made->bytes, made->count);
    feed(made, UINT32_MAX, &model);
    assert_int_equal(model_samples(&model), 0);
    assert_int_equal(model.unread_packets, 1);
    assert_int_equal(model.hello.version, PROF_FORMAT_VERSION + 1);
    finish(made, &model);
}

/* The events of an unknown kind, and cut ones, end their packet only. */
TEST(what_is_not_understood_ends_the_packet)
{
    static const uint8_t wrong[][2] = {
        {0, 1}, {1, 8}, {2, 6}, {3, 3}, {3, 4}, {3 | 4 << 2, 7}, {255, 60}};
    struct made *made = begun();
    struct model model = {0};

    made_flush(made);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        made_sample(made, 1);
        made->packet[made->used] = wrong[i][0];
        memset(made->packet + made->used + 1, 0, 80);
        made->used += wrong[i][1];
        made_flush(made);
    }
    feed(made, UINT32_MAX, &model);
    assert_int_equal(model.unread_packets, sizeof wrong / sizeof *wrong);
    assert_int_equal(model.stacks.samples, sizeof wrong / sizeof *wrong);
    finish(made, &model);
}

TEST(overflows_and_drops_carry_their_own_time)
{
    struct made *made = begun();
    struct model model = {0};

    made->step = STEP;
    MADE_EVENT(made, PROF_EVENT_OVERFLOW,
               (struct prof_event_overflow){0x3000, 7, 70000});
    MADE_EVENT(made, PROF_EVENT_DROP, (struct prof_event_drop){5, 50000});
    made_word(made, PROF_EVENT_MISS, 9);
    MADE_EVENT(made, PROF_EVENT_STOLEN, (uint64_t){4000});
    MADE_EVENT(made, PROF_EVENT_STOPPED_WALK,
               (struct prof_event_stopped_walk){PROF_WALK_OUTSIDE, 3});
    made->discarded = 11;
    made_word(made, PROF_EVENT_BYE, 4);
    made_flush(made);
    feed(made, UINT32_MAX, &model);
    assert_int_equal(model.overflowed.samples, 7);
    assert_int_equal(model.overflowed.clocks, 70000);
    assert_int_equal(cell_at(&model, 0x3000)->count.samples, 7);
    assert_int_equal(model.dropped.samples, 5);
    assert_int_equal(model_lost(&model), 16);
    assert_int_equal(model.missed_ticks, 9);
    assert_int_equal(model.stolen_clocks, 4000);
    assert_int_equal(model.stopped_walks[PROF_WALK_OUTSIDE], 3);
    assert_true(model.ended);
    assert_int_equal(model.code, 4);
    finish(made, &model);
}

/* It is part of one sample's time, and what was lost is not guessed. */
/* Sums of what a damaged stream says are large, not small. */
TEST(sums_beyond_64_bits_stay_the_largest)
{
    struct made *made = begun();
    struct model model = {0};

    made->step = STEP;
    for (int i = 0; i < 2; ++i) {
        MADE_EVENT(made, PROF_EVENT_OVERFLOW,
                   (struct prof_event_overflow){0x3000, 7, UINT64_MAX - 9});
        MADE_EVENT(made, PROF_EVENT_DROP, (struct prof_event_drop){5, 50000});
        MADE_EVENT(made, PROF_EVENT_STOLEN, (uint64_t){UINT64_MAX - 9});
    }
    made->discarded = UINT64_MAX - 2;
    made_word(made, PROF_EVENT_BYE, 0);
    made_flush(made);
    feed(made, UINT32_MAX, &model);
    assert_true(model.overflowed.clocks == UINT64_MAX);
    assert_true(cell_at(&model, 0x3000)->count.clocks == UINT64_MAX);
    assert_true(model.stolen_clocks == UINT64_MAX);
    assert_true(model_clocks(&model) == UINT64_MAX);
    assert_true(model_lost(&model) == UINT64_MAX);
    finish(made, &model);
}

TEST(stolen_time_is_no_samples)
{
    struct made *made = begun();
    struct model model = {0};

    made_node(made, 1, 0, 0x1000);
    made->step = 50 * STEP;
    MADE_EVENT(made, PROF_EVENT_STOLEN, (uint64_t){49 * STEP});
    made->step = 0;
    made_sample(made, 1);
    made->step = STEP;
    made_bare(made, PROF_EVENT_IDLE);
    made->step = 20 * STEP;
    MADE_EVENT(made, PROF_EVENT_STOLEN, (uint64_t){90 * STEP});
    made->step = 0;
    made_bare(made, PROF_EVENT_IDLE);
    MADE_EVENT(made, PROF_EVENT_STOLEN, (uint64_t){STEP});
    made_start(made, 1000000, 64);
    made->step = STEP;
    made_sample(made, 1);
    made_flush(made);
    feed(made, UINT32_MAX, &model);
    assert_int_equal(model.stacks.clocks, 2 * STEP);
    assert_int_equal(model.idle.clocks, STEP);
    assert_int_equal(model_clocks(&model), 3 * STEP);
    assert_int_equal(model.stolen_clocks, 140 * STEP);
    finish(made, &model);
}

TEST(a_period_that_does_not_vary_is_noticed)
{
    for (unsigned spread = 0; spread < 2; ++spread) {
        struct made *made = begun();
        struct model model = {0};

        made_node(made, 1, 0, 0x1000);
        for (unsigned i = 0; i < 100; ++i) {
            made->step = STEP + spread * (i % 10 * STEP / 10) -
                         spread * STEP / 2 + i % 7;
            made_sample(made, 1);
        }
        made_flush(made);
        feed(made, UINT32_MAX, &model);
        assert_int_equal(model_is_steady(&model), spread == 0);
        finish(made, &model);
    }
}

TEST(tasks_are_distinguished)
{
    struct made *made = begun();
    struct model model = {0};

    MADE_EVENT(made, PROF_EVENT_TASK, (struct prof_event_task){3, 0x7777});
    made_node(made, 1, 0, 0x1000);
    made_sample(made, 1);
    made_word(made, PROF_EVENT_SWITCH_WIDE, 3);
    made_sample(made, 1);
    made_sample(made, 1);
    made_flush(made);
    feed(made, UINT32_MAX, &model);
    assert_int_equal(model_cells(&model), 2);
    assert_int_equal(model.cells[0].task, 0);
    assert_int_equal(model.cells[1].task, 1);
    assert_int_equal(model.cells[1].count.samples, 2);
    assert_int_equal(model.tasks[1].function, 0x7777);
    assert_int_equal(model.tasks[1].object, 3);
    finish(made, &model);
}

/* Three packets: nodes, samples, and the same nodes once more. */
TEST(a_lost_definition_comes_again)
{
    struct made *made = begun();
    struct model model = {0};
    uint32_t stack[8];
    uint32_t leaf;

    made_node(made, 70000, 0, 0x100001000);
    made_flush(made);
    made_node(made, 1, 70000, 0x2000);
    made->step = STEP;
    made_sample(made, 1);
    made_flush(made);
    made_node(made, 70000, 0, 0x100001000);
    made_flush(made);
    feed(made, 0, &model);
    leaf = cell_at(&model, 0x2000)->node;
    assert_int_equal(model_stack(&model, leaf, stack, 8), 2);
    assert_int_equal(model.nodes[stack[1]].address, 0x100001000);
    finish(made, &model);
}

TEST(what_stays_unknown_is_shown_as_such)
{
    struct made *made = begun();
    struct model model = {0};
    uint32_t stack[8];

    made_node(made, 2, 1, 0x2000);
    made_sample(made, 2);
    made_sample(made, 9);
    made_flush(made);
    feed(made, UINT32_MAX, &model);
    assert_int_equal(model_stack(&model, model.cells[0].node, stack, 8), 2);
    assert_int_equal(stack[1], MODEL_UNDEFINED);
    assert_int_equal(model_stack(&model, model.cells[1].node, stack, 8), 1);
    assert_int_equal(stack[0], MODEL_UNDEFINED);
    finish(made, &model);
}

TEST(behind_a_gap_a_sample_is_one_period)
{
    struct made *made = begun();
    struct model model = {0};

    made_node(made, 1, 0, 0x1000);
    made_flush(made);
    made->step = STEP;
    for (int i = 0; i < 100; ++i)
        made_sample(made, 1);
    made_flush(made);
    made_sample(made, 1);
    made_sample(made, 1);
    made_flush(made);
    feed(made, 1, &model);
    assert_int_equal(model.missing_packets, 1);
    assert_int_equal(model.stacks.samples, 2);
    assert_int_equal(model.stacks.clocks, 2 * STEP);
    finish(made, &model);
}

/* Whatever address it is, and whatever numbers the guest's nodes have. */
TEST(an_overflow_is_a_node_of_its_own)
{
    static const uint64_t addresses[] = {
        0x8000000000000000u, 0x8000000000000001u, 0x8000000000000002u,
        0xc000000000000000u, 0xc000000000000001u, 0xc000000000000004u,
        0x0000000000000001u, 0xffffffff80001000u, 0x7fffffff80001000u};
    const size_t count = COUNT(addresses);
    struct made *made = begun();
    struct model model = {0};

    made_node(made, 1, 0, 0x1000);
    made_node(made, 2, 1, 0x2000);
    made_sample(made, 2);
    for (size_t i = 0; i < count; ++i)
        MADE_EVENT(made, PROF_EVENT_OVERFLOW,
                   (struct prof_event_overflow){addresses[i], 3, 3000});
    made_flush(made);
    feed(made, UINT32_MAX, &model);
    assert_int_equal(model_nodes(&model), MODEL_PSEUDOS + 2 + count);
    assert_int_equal(model_cells(&model), 1 + count);
    assert_int_equal(cell_at(&model, 0x2000)->count.samples, 1);
    for (size_t i = 0; i < count; ++i) {
        const struct model_cell *cell = cell_at(&model, addresses[i]);

        assert_int_equal(cell->count.samples, 3);
        assert_int_equal(model.nodes[cell->node].parent, MODEL_OVERFLOW);
    }
    for (size_t i = 0; i < MODEL_PSEUDOS; ++i)
        assert_int_equal(model.nodes[i].address, 0);
    finish(made, &model);
}

TEST(a_circle_of_nodes_ends)
{
    struct made *made = begun();
    struct model model = {0};
    uint32_t stack[100];

    made_node(made, 1, 2, 0x1000);
    made_node(made, 2, 1, 0x2000);
    made_sample(made, 1);
    made_flush(made);
    feed(made, UINT32_MAX, &model);
    assert_int_equal(model_stack(&model, model.cells[0].node, stack, 100), 100);
    finish(made, &model);
}

TEST(a_span_of_time_can_be_chosen)
{
    struct made *made = begun();
    struct model model = {.from = 10 * STEP, .to = 20 * STEP};

    made_node(made, 1, 0, 0x1000);
    made->step = STEP;
    for (int i = 0; i < 100; ++i)
        made_sample(made, 1);
    made_flush(made);
    feed(made, UINT32_MAX, &model);
    assert_int_equal(model.stacks.samples, 10);
    assert_int_equal(model.stacks.clocks, 10 * STEP);
    finish(made, &model);
}
