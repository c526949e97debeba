/* SPDX-License-Identifier: Apache-2.0 */
/* What a stream adds up to, also with a packet missing. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../tools/parasite/model.h"
#include "../../tools/parasite/pile.h"
#include "stream_maker.h"

#define STEP 10000u /* clocks between two events: 1 kHz */

/* Gives the packets of (made) but the one numbered (lost) to (model). */
static void tell(const struct made *made, unsigned lost, struct model *model)
{
    for (unsigned i = 0; i < made->sequence; ++i) {
        size_t bytes;
        const uint8_t *at = made_packet(made, i, &bytes);
        struct packet packet;

        assert_int_equal(packet_check(at, bytes, &packet), PACKET_GOOD);
        if (i != lost)
            model_take(model, &packet);
    }
}

static struct made *begun(void)
{
    struct made *made = calloc(1, sizeof *made);

    made->packet_room = 4096;
    made_hello(made, 64);
    made_start(made, 1000000, 64);
    return made;
}

static void finish(struct made *made, struct model *model)
{
    model_free(model);
    free(made->bytes);
    free(made);
}

static const struct model_cell *cell_at(const struct model *model,
                                        uint64_t address)
{
    for (uint32_t i = 0; i < model_cells(model); ++i) {
        if (model->nodes[model->cells[i].node].address == address)
            return &model->cells[i];
    }
    return NULL;
}

static void samples_stand_for_the_time_before_them(void **state)
{
    struct made *made = begun();
    struct model model = {0};

    (void)state;
    made_node(made, 1, 0, 0x1000);
    made_node(made, 2, 1, 0x2000);
    made->step = STEP;
    made_sample(made, 2);
    made_bare(made, PROF_EVENT_IDLE);
    made->step = 5 * STEP;
    made_sample(made, 2);
    made_flush(made);
    tell(made, UINT32_MAX, &model);
    assert_int_equal(model.stacks.samples, 2);
    assert_int_equal(model.stacks.clocks, 6 * STEP);
    assert_int_equal(model.idle.clocks, STEP);
    assert_int_equal(cell_at(&model, 0x2000)->count.samples, 2);
    assert_int_equal(model_samples(&model), 3);
    assert_int_equal(model.hello.build_id_bytes, 20);
    assert_int_equal(model.rate_mhz, 1000000);
    finish(made, &model);
}

static void whole_clocks_carry_over_long_silence(void **state)
{
    struct made *made = begun();
    struct model model = {0};
    uint64_t long_time = 10ull << PROF_EVENT_TIME_BITS;

    (void)state;
    made_node(made, 1, 0, 0x1000);
    made->step = long_time;
    made_event(made, PROF_EVENT_CLOCK, &(uint64_t){long_time}, 8);
    made->step = STEP;
    made_sample(made, 1);
    made_flush(made);
    tell(made, UINT32_MAX, &model);
    assert_int_equal(model.stacks.clocks, long_time + STEP);
    finish(made, &model);
}

static void a_leaf_is_a_node_and_a_sample(void **state)
{
    struct made *made = begun();
    struct model model = {0};
    uint32_t stack[4], leaf;

    (void)state;
    made_node(made, 1, 0, MADE_TEXT + 16);
    made->step = STEP;
    made_leaf(made, 2, 1, MADE_TEXT + (1u << 26) - 1);
    made_sample(made, 2);
    made->step = 1 << 16;
    made_sample(made, 2);
    made_flush(made);
    tell(made, UINT32_MAX, &model);
    leaf = cell_at(&model, MADE_TEXT + (1u << 26) - 1)->node;
    assert_int_equal(model.stacks.samples, 3);
    assert_int_equal(model.stacks.clocks, 2 * STEP + (1 << 16));
    assert_int_equal(model_stack(&model, leaf, stack, 4), 2);
    assert_int_equal(model.nodes[stack[1]].address, MADE_TEXT + 16);
    finish(made, &model);
}

/* Packets of a format that is not ours are counted, and not misread. */
static void another_version_is_not_read(void **state)
{
    struct made *made = begun();
    struct model model = {0};

    (void)state;
    made_leaf(made, 2, 0, MADE_TEXT);
    made_flush(made);
    made->bytes[offsetof(struct prof_packet, version)] += 1;
    made_seal(made->bytes, made->count);
    tell(made, UINT32_MAX, &model);
    assert_int_equal(model_samples(&model), 0);
    assert_int_equal(model.unread_packets, 1);
    assert_int_equal(model.hello.version, PROF_FORMAT_VERSION + 1);
    finish(made, &model);
}

/* The events of an unknown kind, and cut ones, end their packet only. */
static void what_is_not_understood_ends_the_packet(void **state)
{
    static const uint8_t wrong[][2] = {
        {0, 1}, {1, 8}, {2, 6}, {3, 3}, {3, 4}, {3 | 4 << 2, 7}, {255, 60}};
    struct made *made = begun();
    struct model model = {0};

    (void)state;
    made_flush(made);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        made_sample(made, 1);
        made->packet[made->used] = wrong[i][0];
        memset(made->packet + made->used + 1, 0, 80);
        made->used += wrong[i][1];
        made_flush(made);
    }
    tell(made, UINT32_MAX, &model);
    assert_int_equal(model.unread_packets, sizeof wrong / sizeof *wrong);
    assert_int_equal(model.stacks.samples, sizeof wrong / sizeof *wrong);
    finish(made, &model);
}

static void spills_and_drops_say_themselves_what_they_are(void **state)
{
    struct made *made = begun();
    struct model model = {0};

    (void)state;
    made->step = STEP;
    MADE_EVENT(made, PROF_EVENT_SPILL,
               (struct prof_event_spill){0x3000, 7, 70000});
    MADE_EVENT(made, PROF_EVENT_DROP, (struct prof_event_drop){5, 50000});
    made_word(made, PROF_EVENT_MISS, 9);
    MADE_EVENT(made, PROF_EVENT_STOPPED_WALK,
               (struct prof_event_stopped_walk){PROF_WALK_OUTSIDE, 3});
    made->discarded = 11;
    made_word(made, PROF_EVENT_BYE, 4);
    made_flush(made);
    tell(made, UINT32_MAX, &model);
    assert_int_equal(model.spilled.samples, 7);
    assert_int_equal(model.spilled.clocks, 70000);
    assert_int_equal(cell_at(&model, 0x3000)->count.samples, 7);
    assert_int_equal(model.dropped.samples, 5);
    assert_int_equal(model_lost(&model), 16);
    assert_int_equal(model.missed_ticks, 9);
    assert_int_equal(model.stopped_walks[PROF_WALK_OUTSIDE], 3);
    assert_true(model.ended);
    assert_int_equal(model.code, 4);
    finish(made, &model);
}

static void tasks_are_told_apart(void **state)
{
    struct made *made = begun();
    struct model model = {0};

    (void)state;
    MADE_EVENT(made, PROF_EVENT_TASK, (struct prof_event_task){3, 0x7777});
    made_node(made, 1, 0, 0x1000);
    made_sample(made, 1);
    made_word(made, PROF_EVENT_SWITCH, 3);
    made_sample(made, 1);
    made_sample(made, 1);
    made_flush(made);
    tell(made, UINT32_MAX, &model);
    assert_int_equal(model_cells(&model), 2);
    assert_int_equal(model.cells[0].task, 0);
    assert_int_equal(model.cells[1].task, 3);
    assert_int_equal(model.cells[1].count.samples, 2);
    assert_int_equal(model_task_function(&model, 3), 0x7777);
    finish(made, &model);
}

/* Three packets: nodes, samples, and the same nodes once more. */
static void a_lost_definition_comes_again(void **state)
{
    struct made *made = begun();
    struct model model = {0};
    uint32_t stack[8];
    uint32_t leaf;

    (void)state;
    made_node(made, 70000, 0, 0x100001000);
    made_flush(made);
    made_node(made, 1, 70000, 0x2000);
    made->step = STEP;
    made_sample(made, 1);
    made_flush(made);
    made_node(made, 70000, 0, 0x100001000);
    made_flush(made);
    tell(made, 0, &model);
    leaf = cell_at(&model, 0x2000)->node;
    assert_int_equal(model_stack(&model, leaf, stack, 8), 2);
    assert_int_equal(model.nodes[stack[1]].address, 0x100001000);
    finish(made, &model);
}

static void what_stays_unknown_is_shown_as_such(void **state)
{
    struct made *made = begun();
    struct model model = {0};
    uint32_t stack[8];

    (void)state;
    made_node(made, 2, 1, 0x2000);
    made_sample(made, 2);
    made_sample(made, 9);
    made_flush(made);
    tell(made, UINT32_MAX, &model);
    assert_int_equal(model_stack(&model, model.cells[0].node, stack, 8), 2);
    assert_int_equal(stack[1], MODEL_UNDEFINED);
    assert_int_equal(model_stack(&model, model.cells[1].node, stack, 8), 1);
    assert_int_equal(stack[0], MODEL_UNDEFINED);
    finish(made, &model);
}

static void behind_a_gap_a_sample_is_one_period(void **state)
{
    struct made *made = begun();
    struct model model = {0};

    (void)state;
    made_node(made, 1, 0, 0x1000);
    made_flush(made);
    made->step = STEP;
    for (int i = 0; i < 100; ++i)
        made_sample(made, 1);
    made_flush(made);
    made_sample(made, 1);
    made_sample(made, 1);
    made_flush(made);
    tell(made, 1, &model);
    assert_int_equal(model.missing_packets, 1);
    assert_int_equal(model.stacks.samples, 2);
    assert_int_equal(model.stacks.clocks, 2 * STEP);
    finish(made, &model);
}

static void a_circle_of_nodes_ends(void **state)
{
    struct made *made = begun();
    struct model model = {0};
    uint32_t stack[100];

    (void)state;
    made_node(made, 1, 2, 0x1000);
    made_node(made, 2, 1, 0x2000);
    made_sample(made, 1);
    made_flush(made);
    tell(made, UINT32_MAX, &model);
    assert_int_equal(model_stack(&model, model.cells[0].node, stack, 100), 100);
    finish(made, &model);
}

static void a_span_of_time_can_be_chosen(void **state)
{
    struct made *made = begun();
    struct model model = {.from = 10 * STEP, .to = 20 * STEP};

    (void)state;
    made_node(made, 1, 0, 0x1000);
    made->step = STEP;
    for (int i = 0; i < 100; ++i)
        made_sample(made, 1);
    made_flush(made);
    tell(made, UINT32_MAX, &model);
    assert_int_equal(model.stacks.samples, 10);
    assert_int_equal(model.stacks.clocks, 10 * STEP);
    finish(made, &model);
}

/* From now on (made) speaks for (cpu), whose time is (time). */
static void speak_for(struct made *made, uint16_t cpu, uint64_t time)
{
    made_flush(made);
    made->cpu = cpu;
    made->time = time;
}

/* Each second for two CPUs: task (cpu + 1) from the first on, ten samples at 1
 * kHz on CPU 0, five at 500 Hz on CPU 1. Packet 2 * second + cpu + 1. */
static struct made *made_two_cpus(unsigned seconds)
{
    struct made *made = begun();

    made_node(made, 1, 0, MADE_TEXT);
    for (unsigned second = 0; second < seconds; ++second)
        for (uint16_t cpu = 0; cpu < 2; ++cpu) {
            speak_for(made, cpu, second * (uint64_t)PROF_CLOCK_HZ);
            made->step = 0;
            if (second == 0)
                made_word(made, PROF_EVENT_SWITCH, cpu + 1u);
            made_start(made, 1000000, 64);
            made->step = (cpu + 1u) * STEP;
            for (unsigned i = 0; i < 10u / (cpu + 1u); ++i)
                made_sample(made, 1);
            made->discarded = (second + 1) * (cpu + 1u);
        }
    made_flush(made);
    return made;
}

static const struct model_cell *cell_of_cpu(const struct model *model,
                                            uint32_t cpu)
{
    for (uint32_t i = 0; i < model_cells(model); ++i)
        if (model->cells[i].cpu == cpu)
            return &model->cells[i];
    return NULL;
}

static void each_cpu_has_its_own_task_and_time(void **state)
{
    struct made *made = made_two_cpus(3);
    struct model model = {0};

    (void)state;
    tell(made, UINT32_MAX, &model);
    assert_int_equal(model_cells(&model), 2);
    for (uint32_t cpu = 0; cpu < 2; ++cpu) {
        const struct model_cell *cell = cell_of_cpu(&model, cpu);

        assert_int_equal(cell->task, cpu + 1);
        assert_int_equal(cell->count.samples, 3 * (cpu == 0 ? 10 : 5));
        assert_int_equal(cell->count.clocks, 3 * 10 * STEP);
    }
    assert_int_equal(model.missing_packets, 0);
    assert_int_equal(model.discarded, 3 + 3 * 2);
    finish(made, &model);
}

/* Packets without a START: what a sample behind a gap stands for shows which
 * CPU the gap was on. */
static void a_loss_is_its_cpus_own(void **state)
{
    for (unsigned lost = 0; lost < 4; ++lost) {
        struct made *made = begun();
        struct model model = {0};

        (void)state;
        made_node(made, 1, 0, MADE_TEXT);
        for (unsigned round = 1; round <= 4; ++round)
            for (uint16_t cpu = 0; cpu < 2; ++cpu) {
                speak_for(made, cpu, round * 20 * STEP);
                made->step = 0;
                made_sample(made, 1);
            }
        made_flush(made);
        tell(made, 3 + lost, &model); /* of round 2 or 3 */
        assert_int_equal(model.missing_packets, 1);
        assert_int_equal(cell_of_cpu(&model, lost % 2)->count.samples, 3);
        assert_int_equal(cell_of_cpu(&model, 1 - lost % 2)->count.samples, 4);
        assert_true(cell_of_cpu(&model, lost % 2)->count.clocks <=
                    20 * STEP + 20 * STEP + STEP);
        assert_true(cell_of_cpu(&model, 1 - lost % 2)->count.clocks >=
                    3 * 20 * STEP);
        finish(made, &model);
    }
}

static void a_pile_tells_the_cpus_apart(void **state)
{
    struct made *made = made_two_cpus(3);
    struct pile pile = {0};

    (void)state;
    for (unsigned i = made->sequence; i-- > 0;) {
        size_t bytes;
        const uint8_t *at = made_packet(made, i, &bytes);
        struct packet packet;

        assert_int_equal(packet_check(at, bytes, &packet), PACKET_GOOD);
        assert_true(i == 4 || pile_put(&pile, &packet, i));
    }
    pile_sort(&pile);
    assert_int_equal(pile.repeated, 0);
    assert_int_equal(pile_missing(&pile), 1);
    for (size_t i = 1; i < pile.count; ++i)
        assert_true(pile.packets[i].begin >= pile.packets[i - 1].begin);
    pile_free(&pile);
    free(made->bytes);
    free(made);
}

static void a_pile_holds_each_packet_once_and_in_order(void **state)
{
    static const unsigned order[] = {2, 0, 2, 4, 0};
    struct made *made = begun();
    struct pile pile = {0};

    (void)state;
    made->step = STEP;
    for (int i = 0; i < 5; ++i) {
        made_bare(made, PROF_EVENT_IDLE);
        made_flush(made);
    }
    for (size_t i = 0; i < sizeof order / sizeof order[0]; ++i) {
        size_t bytes;
        const uint8_t *at = made_packet(made, order[i], &bytes);
        struct packet packet;

        assert_int_equal(packet_check(at, bytes, &packet), PACKET_GOOD);
        assert_int_equal(pile_put(&pile, &packet, i),
                         i == 0 || order[i] == 4 || i == 1);
    }
    pile_sort(&pile);
    assert_int_equal(pile.count, 3);
    assert_int_equal(pile.repeated, 2);
    assert_int_equal(pile_missing(&pile), 2);
    for (size_t i = 0; i < 3; ++i)
        assert_int_equal(pile.packets[i].sequence, 2 * i);
    pile_free(&pile);
    free(made->bytes);
    free(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_stand_for_the_time_before_them),
        cmocka_unit_test(whole_clocks_carry_over_long_silence),
        cmocka_unit_test(a_leaf_is_a_node_and_a_sample),
        cmocka_unit_test(another_version_is_not_read),
        cmocka_unit_test(what_is_not_understood_ends_the_packet),
        cmocka_unit_test(spills_and_drops_say_themselves_what_they_are),
        cmocka_unit_test(tasks_are_told_apart),
        cmocka_unit_test(a_lost_definition_comes_again),
        cmocka_unit_test(what_stays_unknown_is_shown_as_such),
        cmocka_unit_test(behind_a_gap_a_sample_is_one_period),
        cmocka_unit_test(a_circle_of_nodes_ends),
        cmocka_unit_test(a_span_of_time_can_be_chosen),
        cmocka_unit_test(each_cpu_has_its_own_task_and_time),
        cmocka_unit_test(a_loss_is_its_cpus_own),
        cmocka_unit_test(a_pile_tells_the_cpus_apart),
        cmocka_unit_test(a_pile_holds_each_packet_once_and_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
